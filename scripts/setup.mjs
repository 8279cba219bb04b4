// Everything between a fresh clone and a package that runs. What is already done is skipped.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isFresh, stamp } from "./stamp.mjs";
import { root, step } from "./steps.mjs";
import { checkTools } from "./tools.mjs";

const addonSources = [
  "Cargo.toml",
  "Cargo.lock",
  ".cargo",
  "build.rs",
  "src",
  "core/Cargo.toml",
  "core/src",
  "scripts/setup.mjs",
];
const scriptSources = [
  "ts",
  "index.d.ts",
  "client.d.ts",
  "tools.d.ts",
  "pi.d.ts",
  "postgres.d.ts",
  "s3.d.ts",
  "tsconfig.json",
  "package.json",
  "scripts/setup.mjs",
];

export async function setup({ force = false } = {}) {
  const installed = isInstalled();
  const addonFresh = !force && installed && isFresh("addon", addonSources, addonOutputs());
  if (!addonFresh) checkTools(); // before minutes of other work
  if (!installed) await step("Installing packages", ...npm("ci"));
  if (!addonFresh) await buildAddon();
  if (force || !isFresh("scripts", scriptSources, scriptOutputs())) await buildScripts();
}

/** Whether node_modules holds what the lock file asks for. npm notes there what it installed. */
function isInstalled() {
  const packages = (file) => JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  if (!existsSync(join(root, "node_modules/.package-lock.json"))) return false;
  const found = packages("node_modules/.package-lock.json");
  return Object.entries(packages("package-lock.json")).every(
    ([name, { version, optional }]) => name === "" || optional || found[name]?.version === version,
  );
}

/** The npm that started us, else the one on the PATH. */
export function npm(...args) {
  const started = process.env.npm_execpath ?? "";
  return /npm-cli\.[cm]?js$/.test(started) ? [process.execPath, [started, ...args]] : ["npm", args];
}

async function buildAddon() {
  const args = ["build", "--platform", "--release", "--strip", "--js", "binding.cjs", "--dts", "binding.d.cts"];
  await step("Building the addon (Rust)", tool("napi"), args);
  stamp("addon", addonSources, addonOutputs());
}

/** A few files in the end: thirty modules take three times as long to import. */
async function buildScripts() {
  for (const folder of [".cache/ts", ".cache/bundle"]) rmSync(join(root, folder), { recursive: true, force: true });
  await step("Compiling TypeScript", tool("tsc"), ["-p", "tsconfig.json", "--outDir", ".cache/ts"]);
  await step("Bundling", tool("rolldown"), [
    ...compiledEntries(),
    "--platform=node",
    "--format=esm",
    "--external=@aws-sdk/client-s3", // a peer, loaded when it is needed
    "--dir=.cache/bundle",
  ]);
  rmSync(join(root, "dist"), { recursive: true, force: true });
  renameSync(join(root, ".cache/bundle"), join(root, "dist"));
  stamp("scripts", scriptSources, scriptOutputs());
}

/** The modules behind `exports` in package.json, and the one that the first `localHost` loads. What they share is a file too. */
function compiledEntries() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const outputs = [...Object.values(exports).map((entry) => entry.default ?? ""), "./dist/host.js"];
  return outputs.filter((output) => output.startsWith("./dist/")).map((output) => output.replace("dist", ".cache/ts"));
}

const tool = (name) => join(root, "node_modules/.bin", name);

/** The addon's name says the platform, so it is looked up; without one there is nothing to be fresh. */
export function addonOutputs() {
  const addons = readdirSync(root).filter((name) => /^little-files\..*\.node$/.test(name));
  return addons.length > 0 && existsSync(join(root, "binding.cjs")) ? ["binding.cjs", ...addons.sort()] : [];
}

function scriptOutputs() {
  if (!existsSync(join(root, "dist/index.js"))) return [];
  return readdirSync(join(root, "dist"))
    .sort()
    .map((name) => `dist/${name}`);
}
