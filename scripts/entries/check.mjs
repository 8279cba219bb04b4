// `import` and `require` of every entry of the package as it is published: the packed files in a node_modules, the addon in
// its platform package. A missing line in `files` or a wrong condition in `exports` shows here, not at a user's.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodes } from "../nodes.mjs";
import { addonOutputs, npm } from "../setup.mjs";
import { root } from "../steps.mjs";

const app = join(root, ".cache/app");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const loaders = ["import.mjs", "require.cjs"];

/** Gives whether all is well, and a line for the summary. */
export async function checkEntries() {
  install();
  const entries = Object.keys(manifest.exports).map((entry) => entry.replace(".", manifest.name));
  const says = [];
  let ok = true;
  for (const { version, program, missing } of await nodes()) {
    const failures = missing
      ? []
      : entries.flatMap((entry) => loaders.flatMap((loader) => check(program, loader, entry)));
    for (const failure of failures) console.log(`Node ${version}: ${failure}`);
    says.push(missing ? `${version} NOT RUN, ${missing}` : `${version} ${failures.length === 0 ? "fine" : "FAILED"}`);
    ok &&= failures.length === 0 && !(missing && process.env.CI);
  }
  return { ok, says: `import and require of ${entries.length} entries on Node ${says.join(", ")}` };
}

function install() {
  rmSync(app, { recursive: true, force: true });
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, "package.json"), "{}"); // else our own would be the nearest, and its name mean the clone
  for (const path of packedFiles()) copy(path, join("node_modules", manifest.name, path));
  for (const addon of addonOutputs().filter((name) => name.endsWith(".node"))) {
    const name = `${manifest.name}-${addon.split(".")[1]}`;
    copy(addon, join("node_modules", name, addon));
    const platform = { name, version: manifest.version, main: addon };
    writeFileSync(join(app, "node_modules", name, "package.json"), JSON.stringify(platform));
  }
  for (const file of [...loaders, "use.mjs"]) copy(join("scripts/entries", file), file);
}

function packedFiles() {
  const [program, args] = npm("pack", "--dry-run", "--json", "--ignore-scripts");
  const listing = JSON.parse(execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: "pipe" }));
  return Object.values(listing)[0].files.map(({ path }) => path);
}

function copy(from, to) {
  mkdirSync(dirname(join(app, to)), { recursive: true });
  cpSync(join(root, from), join(app, to));
}

function check(program, loader, entry) {
  const env = { ...process.env, NODE_OPTIONS: "" };
  try {
    const said = execFileSync(program, [loader, entry], {
      cwd: app,
      encoding: "utf8",
      env,
      stdio: "pipe",
      timeout: 60_000,
    });
    return said === "fine" ? [] : [`${loader} of ${entry} ended early`];
  } catch (error) {
    return [`${loader} of ${entry} failed\n${error.stderr || error.message}`];
  }
}
