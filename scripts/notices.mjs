// The notices of the crates that are linked into the addons: who made them, and the licenses that ask for it to be said.
// `node scripts/notices.mjs` writes them into each platform package of a release; `check-release.mjs` asks for them.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./steps.mjs";

export const NOTICES = "THIRD-PARTY-NOTICES.txt";
const OURS = "little-files";
/** Where a crate gives a choice, the shorter text says the same. */
const CHOICES = [/\bmit\b/i, /\bapache\b/i];
const STANDARD_LIBRARY =
  "The addons also hold parts of the Rust standard library (MIT OR Apache-2.0), by the Rust project's contributors,\n" +
  "https://www.rust-lang.org, and of SQLite, which is in the public domain, https://sqlite.org.\n";

/** The crates that are linked for any of the targets: `{ name, version, license, repository, authors, folder }`, sorted. */
export function linkedCrates(targets) {
  const found = new Map();
  for (const target of targets) {
    for (const crate of linkedFor(target)) found.set(`${crate.name} ${crate.version}`, crate);
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, crate]) => crate);
}

function linkedFor(target) {
  const args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
  const { packages, resolve } = JSON.parse(execFileSync("cargo", args, { cwd: root, maxBuffer: 1 << 28 }));
  const about = new Map(packages.map((each) => [each.id, each]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const seen = new Set([resolve.root]);
  for (const id of seen) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      // Macros and build scripts run while the addon is made, and are not in it.
      const isMacro = about.get(pkg).targets.some(({ kind }) => kind.includes("proc-macro"));
      if (!isMacro && kinds.some(({ kind }) => kind === null)) seen.add(pkg);
    }
  }
  return [...seen]
    .map((id) => about.get(id))
    .filter(({ name }) => !name.startsWith(OURS))
    .map(crateOf);
}

function crateOf({ name, version, license, repository, authors, manifest_path: manifest }) {
  return { name, version, license: license ?? "see below", repository, authors, folder: dirname(manifest) };
}

/** One text for all that have the same. */
export function notices(crates) {
  const byText = new Map();
  for (const crate of crates) {
    const text = licenseTexts(crate);
    byText.set(text, [...(byText.get(text) ?? []), crate]);
  }
  const parts = [...byText].map(([text, some]) => `${some.map(title).join("\n")}\n\n${text}`);
  const head = `The addon of this package is made of our own code (Apache-2.0) and of the crates below.\n${STANDARD_LIBRARY}`;
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

/** The line by which a crate is found again. */
export function title({ name, version, license, repository }) {
  return `${name} ${version} (${license})${repository ? `, ${repository}` : ""}`;
}

function licenseTexts({ folder, license, authors }) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice|unlicense|copyright)/i.test(name));
  const choices = / AND /.test(license) ? [] : CHOICES.map((word) => files.filter((name) => word.test(name)));
  const chosen = choices.find((some) => some.length > 0) ?? files;
  const wanted = files.filter((name) => chosen.includes(name) || /^(notice|copyright)/i.test(name)).sort();
  const texts = wanted.map((name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length > 0) return `${texts.join("\n\n")}\n`;
  const whose = authors.length > 0 ? `Copyright (c) ${authors.join(", ")}. ` : "";
  return `${whose}The crate comes without a text of its license, ${license}, which is the one of other crates here.\n`;
}

function main() {
  const { targets } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).napi;
  const text = notices(linkedCrates(targets));
  const folders = readdirSync(join(root, "npm"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    const folder = join(root, "npm", name);
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) continue;
    const about = JSON.parse(readFileSync(manifest, "utf8"));
    copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE")); // npm packs it unasked
    writeFileSync(join(folder, NOTICES), text);
    writeFileSync(
      manifest,
      `${JSON.stringify({ ...about, files: [...new Set([...about.files, NOTICES])] }, null, 2)}\n`,
    );
  }
  console.log(`${NOTICES}: ${Math.round(text.length / 1024)} KiB, in ${folders.length} packages.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
