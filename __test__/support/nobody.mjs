// Runs a program as a user without rights, since root is refused nothing. Skipped where that cannot be had.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { NOBODY } from "./drop-rights.mjs";
import { isRoot } from "./tree.mjs";

const here = path.join(import.meta.dirname, "../..");
const drop = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", "--"];

/** Why it cannot be run here, or false. */
export const noNobody = (() => {
  if (!isRoot) return false; // we have no rights ourselves
  const tried = spawnSync(
    "setpriv",
    [...drop, process.execPath, "--input-type=module", "-e", 'import "@little-stack/files"'],
    { cwd: here, encoding: "utf8" },
  );
  return tried.status === 0 ? false : "another user cannot load the package from here";
})();

/**
 * Runs an ES module, given as text, as nobody; `base` (in `process.env.BASE`) is handed over to it first. What it prints
 * last is JSON; that is the result.
 */
export function asNobody(base, program) {
  const env = { ...process.env, BASE: base };
  delete env.NODE_TEST_CONTEXT;
  const args = ["--input-type=module", "-e", program];
  if (isRoot) fs.chownSync(base, NOBODY, NOBODY);
  const ran = isRoot
    ? spawnSync("setpriv", [...drop, process.execPath, ...args], { cwd: here, env, encoding: "utf8", timeout: 30_000 })
    : spawnSync(process.execPath, args, { cwd: here, env, encoding: "utf8", timeout: 30_000 });
  if (ran.status !== 0) throw new Error(`the program ended with ${ran.status ?? ran.signal}: ${ran.stderr}`);
  return JSON.parse(ran.stdout.trim().split("\n").at(-1));
}
