// What a build needs from the machine besides Node: Rust and a C compiler. Each gap is one plain line.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Stop, root } from "./steps.mjs";

export function checkTools() {
  checkRust();
  checkCompiler();
}

function checkRust() {
  const wanted = /^rust-version\s*=\s*"([\d.]+)"/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
  const found = versionOf("cargo") && versionOf("rustc") ? versionOf("rustc") : viaRustupFolder();
  if (!found) {
    throw new Stop(
      `Rust ${wanted} or later is needed, none was found. Install it from https://rustup.rs and run this again.`,
    );
  }
  if (isOlder(found, wanted)) {
    throw new Stop(
      `Rust ${wanted} or later is needed, this is ${found}. Run \`rustup update\` (https://rustup.rs) and run this again.`,
    );
  }
}

function versionOf(program) {
  const { stdout } = spawnSync(program, ["--version"], { cwd: root, encoding: "utf8" });
  return /\b(\d+\.\d+\.\d+)/.exec(stdout ?? "")?.[1];
}

/** rustup puts its folder on the PATH of the next login only; a person who just installed Rust should not have to know. */
function viaRustupFolder() {
  const folder = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "bin");
  if (!existsSync(join(folder, "cargo"))) return undefined;
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
  return versionOf("cargo") && versionOf("rustc");
}

function isOlder(found, wanted) {
  const [a, b] = [found, wanted].map((version) => version.split(".").map(Number));
  return a[0] !== b[0] ? a[0] < b[0] : a[1] < b[1];
}

/** SQLite is built from its C source, and Rust links with the C compiler: a program must compile, with headers, and link. */
function checkCompiler() {
  const [program, ...args] = (process.env.CC || "cc").split(" ");
  const folder = mkdtempSync(join(tmpdir(), "little-files-cc-"));
  try {
    const input = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n';
    const { status } = spawnSync(program, [...args, "-x", "c", "-", "-o", join(folder, "probe")], {
      input,
      stdio: "pipe",
    });
    if (status === 0) return;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const how =
    process.platform === "darwin"
      ? "`xcode-select --install`"
      : "Debian and Ubuntu: `apt install build-essential`; Fedora: `dnf install gcc`; Alpine: `apk add build-base`";
  throw new Stop(
    `A C compiler is needed (SQLite is built from source), and \`${program}\` cannot build a program here. Install one (${how}) and run this again.`,
  );
}
