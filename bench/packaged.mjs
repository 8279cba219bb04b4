// What the package costs before it does anything: the time of its import, in processes of their own, and the addon's size.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compare, row } from "./harness.mjs";
import { node, ours, wfa } from "./peers.mjs";

const probe = fileURLToPath(new URL("import-time.mjs", import.meta.url));
const root = fileURLToPath(new URL("..", import.meta.url));

export async function packaged({ quick }) {
  const timed =
    (...args) =>
    async (folder) =>
      JSON.parse(execFileSync(process.execPath, [probe, folder, ...args], { encoding: "utf8" }));
  const contenders = {
    [ours]: timed("@little-stack/files"),
    [node]: timed("node:fs", "node:crypto"),
    [wfa]: timed("write-file-atomic", "node:crypto"),
  };
  const results = await compare("import", contenders, { rounds: quick ? 5 : 21 });
  return [
    row("import", results, "imported", "ms"),
    row("… and the first localHost, which loads the addon", { [ours]: results[ours] }, "opened", "ms"),
    row("size of the addon", { [ours]: { size: addonSize() } }, "size", "MB"),
  ];
}

function addonSize() {
  const addons = readdirSync(root).filter((name) => name.endsWith(".node"));
  return Math.max(...addons.map((name) => statSync(join(root, name)).size)) / 1e6;
}
