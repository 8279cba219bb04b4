// The linters, all of them, even when one finds something.
import { spawnSync } from "node:child_process";
import { setup } from "./setup.mjs";
import { root, show } from "./steps.mjs";

const linters = [
  ["cargo", "fmt", "--all", "--check"],
  ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
  ["node_modules/.bin/oxlint", "--deny-warnings"],
  ["node_modules/.bin/oxfmt", "--check"],
  ["node_modules/.bin/tsc", "-p", "tsconfig.json", "--noEmit"],
  [process.execPath, "scripts/check-docs.mjs"],
];

export async function main() {
  await setup();
  const failed = [];
  for (const [program, ...args] of [...linters, ...deny()]) {
    const command = [program.split("/").at(-1), ...args].join(" ");
    console.log(`\n$ ${command}`);
    if ((await show(program, args)) !== 0) failed.push(command);
  }
  console.log(failed.length === 0 ? "\nLinters: nothing to say." : `\nLinters that failed:\n  ${failed.join("\n  ")}`);
  return failed.length === 0 ? 0 : 1;
}

/** cargo-deny is no part of a Rust toolchain. Advisories need the network, so they are left out. */
function deny() {
  const installed = spawnSync("cargo", ["deny", "--version"], { cwd: root }).status === 0;
  if (installed) return [["cargo", "deny", "--offline", "check", "bans", "licenses", "sources"]];
  console.log("Skipped: cargo-deny is not installed (`cargo install cargo-deny`).");
  return [];
}
