// The gate before a release: an addon for every target, each for the machine it says and with the notices of what is linked into
// it, all versions the same.
// `napi pre-publish` only warns when one is missing, and would publish a package that does not load.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NOTICES, linkedCrates, title } from "./notices.mjs";
import { root } from "./steps.mjs";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { binaryName, targets } = manifest.napi;

const crates = linkedCrates(targets);
const faults = [...targets.flatMap(checkTarget), ...checkVersions(), ...checkFiles()];
const found = targets.filter((target) => checkTarget(target).length === 0);
console.log(`${found.length} of ${targets.length} platform packages are complete.`);
for (const fault of faults) console.log(`  ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function checkTarget(target) {
  const platform = platformOf(target);
  const addon = `npm/${platform}/${binaryName}.${platform}.node`;
  if (!existsSync(join(root, addon))) return [`${addon} is missing`];
  const { name, version, files } = JSON.parse(readFileSync(join(root, `npm/${platform}/package.json`), "utf8"));
  const machine = machineOf(readFileSync(join(root, addon)));
  return [
    machine !== target.replace("-unknown", "") && `${addon} is for ${machine}`,
    name !== `${manifest.name}-${platform}` && `npm/${platform} is named ${name}`,
    version !== manifest.version && `npm/${platform} is version ${version}`,
    ...[addon.split("/").at(-1), NOTICES]
      .filter((file) => !files?.includes(file))
      .map((file) => `npm/${platform} does not publish ${file}`),
    ...checkNotices(platform),
  ].filter(Boolean);
}

function checkNotices(platform) {
  const missing = ["LICENSE", NOTICES].filter((file) => !existsSync(join(root, `npm/${platform}/${file}`)));
  if (missing.length > 0) return missing.map((file) => `npm/${platform}/${file} is missing: run scripts/notices.mjs`);
  const text = readFileSync(join(root, `npm/${platform}/${NOTICES}`), "utf8");
  const unnamed = crates.filter((crate) => !text.includes(`${title(crate)}\n`));
  return unnamed.map(({ name, version }) => `npm/${platform}/${NOTICES} does not name ${name} ${version}`);
}

/** x86_64-unknown-linux-gnu → linux-x64-gnu, aarch64-apple-darwin → darwin-arm64: the names that napi gives. */
function platformOf(target) {
  const [cpu, , system, libc] = target.split("-");
  return [system, { x86_64: "x64", aarch64: "arm64" }[cpu], libc].filter(Boolean).join("-");
}

/** What the file says of itself: ELF or Mach-O, the processor, and on Linux whose libc it loads. */
function machineOf(bytes) {
  if (bytes.readUInt32BE(0) === 0x7f454c46) {
    return `${{ 0x3e: "x86_64", 0xb7: "aarch64" }[bytes.readUInt16LE(18)]}-linux-${bytes.includes("libc.so.6") ? "gnu" : "musl"}`;
  }
  if (bytes.readUInt32LE(0) === 0xfeedfacf) {
    return `${{ 0x01000007: "x86_64", 0x0100000c: "aarch64" }[bytes.readUInt32LE(4)]}-apple-darwin`;
  }
  return "no machine that we know";
}

function checkVersions() {
  const cargo = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))?.[1];
  const changes = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  return [
    cargo !== manifest.version && `Cargo.toml says ${cargo}, package.json ${manifest.version}`,
    !changes.includes(`## [${manifest.version}]`) && `CHANGELOG.md has no entry for ${manifest.version}`,
  ].filter(Boolean);
}

function checkFiles() {
  const entries = Object.values(manifest.exports).flatMap((entry) =>
    Object.values(typeof entry === "object" ? entry : {}),
  );
  const files = [...entries, "binding.cjs", "README.md", "LICENSE"];
  return files.filter((file) => !existsSync(join(root, file))).map((file) => `${file} is missing`);
}
