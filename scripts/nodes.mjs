// The Node versions that the package promises to load on. Those that are not running come as npm packages, kept in .cache/.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { npm } from "./setup.mjs";
import { root, step } from "./steps.mjs";

const versions = { 20: "20.20.2", 22: "22.23.5", 24: "24.22.3" };
const platforms = new Set(["linux-x64", "linux-arm64"]); // where there are such packages; their binaries need glibc

/** `{ version, program }` of each, or `{ version, missing }` with the reason. */
export async function nodes() {
  const running = process.versions.node;
  const found = [{ version: running, program: process.execPath }];
  for (const [major, version] of Object.entries(versions)) {
    if (running.split(".")[0] !== major) found.push(await obtain(version));
  }
  return found;
}

async function obtain(version) {
  const platform = `${process.platform}-${process.arch}`;
  if (!platforms.has(platform)) return { version, missing: `no npm package of Node for ${platform}` };
  const folder = join(root, ".cache/node-versions", version);
  const program = join(folder, `node_modules/node-${platform}/bin/node`);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const install = npm("install", "--prefix", folder, "--no-save", "--no-package-lock", `node-${platform}@${version}`);
    const fetched = await step(`Fetching Node ${version}`, ...install, { cwd: folder }).catch(() => undefined);
    if (fetched === undefined) return { version, missing: "it could not be fetched" };
  }
  try {
    return { version: execFileSync(program, ["-p", "process.versions.node"], { encoding: "utf8" }).trim(), program };
  } catch (error) {
    return { version, missing: `its binary does not run here (${error.code ?? error.message.split("\n")[0]})` };
  }
}
