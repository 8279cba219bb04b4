// `npm run bench [-- --quick] [-- GROUP…]` — see README.md beside this file for the method.
import { cpus } from "node:os";
import { json } from "./json.mjs";
import { markdown } from "./harness.mjs";
import { offload } from "./offload.mjs";
import { packaged } from "./packaged.mjs";
import { persistent } from "./persistent.mjs";
import { postgres } from "./postgres.mjs";
import { s3 } from "./s3.mjs";
import { small } from "./small.mjs";
import { stream } from "./stream.mjs";
import { tools } from "./tools.mjs";
import { track } from "./track.mjs";

const groups = { small, stream, json, offload, track, persistent, tools, s3, postgres, packaged };
const quick = process.argv.includes("--quick");
const named = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const unknown = named.filter((name) => !(name in groups));
if (unknown.length > 0) {
  console.error(`There is no group ${unknown.join(", ")}; there are ${Object.keys(groups).join(", ")}.`);
  process.exit(1);
}

const rows = [];
for (const name of named.length > 0 ? named : Object.keys(groups)) rows.push(...(await groups[name]({ quick })));

const { model } = cpus()[0] ?? { model: "unknown processor" };
console.log(
  `\n${model.trim()}, ${cpus().length} cores, ${process.platform}, Node ${process.versions.node}${quick ? ", --quick: sizes are small, do not quote" : ""}\n`,
);
console.log(markdown(rows));
