// `npm test`: set-up, then every test there is; all of them run even when one fails.
// `npm test -- js stream` runs one group only, of the JavaScript suites those whose name has "stream" in it.
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { preparePostgres } from "./engines/postgres.mjs";
import { prepareS3 } from "./engines/s3.mjs";
import { checkEntries } from "./entries/check.mjs";
import { setup } from "./setup.mjs";
import { root, seconds, show, Stop } from "./steps.mjs";
import { checkTools } from "./tools.mjs";

const groups = { rust, types, entries, js }; // the suites last, so that their count stands at the end
const suiteTimeout = 300; // seconds for one suite; the longest work on purpose for a minute
const engines = { postgres: preparePostgres, s3: prepareS3 }; // by the word in the names of the suites that run on them
const report = ".cache/test/node.tap";

export async function main(args) {
  const chosen = args[0] in groups ? [args[0]] : Object.keys(groups);
  const words = args.filter((arg) => !(arg in groups));
  await setup();
  const rows = [];
  for (const group of chosen) {
    const start = performance.now();
    console.log(`\n── ${group} ──`);
    const { ok, says } = await groups[group](words).catch(told);
    rows.push(`${ok ? "passed" : "FAILED"}  ${group.padEnd(8)} ${says}, ${seconds(start)}`);
  }
  const failed = rows.some((row) => row.startsWith("FAILED"));
  console.log(`\n── ${failed ? "FAILED" : "all passed"} ──\n${rows.join("\n")}`);
  if (chosen.includes("js")) console.log(counts().join("\n"));
  return failed ? 1 : 0;
}

/** A group that cannot run has failed; the others run all the same. */
function told(error) {
  console.log(error.name === "Stop" ? error.message : error);
  return { ok: false, says: "could not run" };
}

async function rust() {
  checkTools();
  const code = await show("cargo", ["test", "--workspace", "--locked"]);
  return { ok: code === 0, says: "cargo test --workspace" };
}

async function types() {
  const folder = "__test__/types";
  const projects = readdirSync(join(root, folder), { recursive: true }).filter((name) =>
    /tsconfig[^/]*\.json$/.test(name),
  );
  if (projects.length === 0) throw new Stop(`No tsconfig*.json in ${folder}.`);
  let ok = true;
  for (const project of ["tsconfig.json", ...projects.map((name) => `${folder}/${name}`)]) {
    const code = await show("node_modules/.bin/tsc", ["-p", project, "--noEmit"]);
    console.log(`${project}: ${code === 0 ? "fine" : "FAILED"}`);
    ok &&= code === 0;
  }
  return { ok, says: `${projects.length} projects against index.d.ts, and ts/ itself` };
}

async function entries() {
  return checkEntries();
}

async function js(words) {
  const suites = readdirSync(join(root, "__test__"))
    .filter((name) => name.endsWith(".test.mjs") && words.every((word) => name.includes(word)))
    .map((name) => `__test__/${name}`);
  if (suites.length === 0) throw new Stop(`No suite in __test__ is named like ${words.join(" ") || "*.test.mjs"}.`);
  mkdirSync(join(root, ".cache/test"), { recursive: true });
  const notRun = await without(suites);
  const code = await show(process.execPath, [
    "--test",
    `--test-concurrency=${Math.max(2, availableParallelism() - 1)}`,
    `--test-timeout=${suiteTimeout * 1000}`,
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-reporter=tap",
    `--test-reporter-destination=${report}`,
    ...suites,
  ]);
  return { ok: code === 0, says: [`${suites.length} suites`, ...notRun].join(", ") };
}

/** Sets up the servers that suites need. Where one cannot be had its suites skip their tests, and fail in CI. */
async function without(suites) {
  const notRun = [];
  for (const [name, prepare] of Object.entries(engines)) {
    const some = suites.filter((suite) => new RegExp(`\\b${name}\\b`).test(suite));
    const missing = some.length === 0 ? undefined : await prepare();
    if (missing !== undefined) notRun.push(`${some.length} of them NOT RUN (${missing})`);
  }
  return notRun;
}

/** The closing lines of node's test runner: "# tests 12" and so on. */
function counts() {
  if (!existsSync(join(root, report))) return [];
  return (
    readFileSync(join(root, report), "utf8").match(/^# (tests|suites|pass|fail|cancelled|skipped|todo) \d+$/gm) ?? []
  );
}
