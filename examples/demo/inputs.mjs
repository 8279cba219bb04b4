// The files that the demo stages: those named on the command line, else real ones that every clone has after set-up.
import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

export async function inputFiles(named) {
  // npm runs scripts in the package's folder and says in INIT_CWD where the person was.
  const files = named.map((file) => resolve(process.env.INIT_CWD ?? ".", file));
  if (files.length === 0) files.push(...defaults());
  const inputs = await Promise.all(files.map(describe));
  console.error(
    `${named.length === 0 ? "No files were named, so these are staged" : "Staging"}: ${inputs.map(({ name }) => name).join(", ")}`,
  );
  return inputs;
}

/** Texts of several kinds, and the addon itself, which is a few MiB of binary. */
function defaults() {
  const addons = readdirSync(root).filter((name) => name.endsWith(".node"));
  return ["README.md", "package-lock.json", "index.d.ts", ...addons].map((name) => join(root, name));
}

async function describe(file) {
  const stats = await stat(file).catch((error) => leave(`Cannot read ${file}: ${error.code}`));
  if (!stats.isFile()) leave(`${file} is not a regular file.`);
  return { file, bytes: stats.size, name: safeName(basename(file)) };
}

/** A person's file may be called what a path must not hold. */
function safeName(name) {
  const safe = name.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\\]/g, "_");
  return Buffer.byteLength(safe.normalize("NFC")) <= 255 ? safe : "upload";
}

function leave(line) {
  console.error(line);
  process.exit(1);
}
