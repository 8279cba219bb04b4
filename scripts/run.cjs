// `node scripts/run.cjs TASK ARGS…` — the way into every npm script.
// Old syntax on purpose: a Node that is too old must still be able to read this file and say so.
"use strict";

var path = require("path");

var wanted = "20.19 or later in the 20 line, or 22.12 or later"; // keep in step with `engines` in package.json
var tasks = ["demo", "test", "bench", "build", "lint"];

function nodeIsFit(version) {
  var parts = version.split(".");
  var major = Number(parts[0]);
  var minor = Number(parts[1]);
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
}

function stop(line) {
  console.error(line);
  process.exit(1);
}

if (!nodeIsFit(process.versions.node)) {
  stop("Node " + wanted + " is needed, this is " + process.versions.node + ". Install it from https://nodejs.org.");
}
if (process.platform === "win32") {
  stop("This release is for Linux and macOS; Windows comes later. On Windows, run this inside WSL.");
}
if (tasks.indexOf(process.argv[2]) === -1) {
  stop("Say what to run: " + tasks.join(", ") + ".");
}

// A second file, since `import()` is a syntax error to a Node that is too old.
require("./enter.cjs")(path.join(__dirname, process.argv[2] + ".mjs"));
