// Plants trees on disk with node:fs, and takes pictures of them, to prove what changed and what did not.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
export const isRoot = process.getuid?.() === 0;

export const dir = () => ({ kind: "dir" });
export const file = (content = "x", mode = 0o600) => ({ kind: "file", content, mode });
export const link = (target) => ({ kind: "link", target });
export const hardLink = (target) => ({ kind: "hardLink", target });
export const fifo = () => ({ kind: "fifo" });
export const socket = () => ({ kind: "socket" });
/** /dev/zero: made with mknod, so only as root. */
export const device = () => ({ kind: "device" });

/** `plant(folder, { "a/b.txt": file("x"), "l": link("a"), "p": fifo() })`: parents are made. Strings stand for files. */
export function plant(root, tree) {
  for (const [name, what] of Object.entries(tree))
    plantOne(path.join(root, name), typeof what === "string" ? file(what) : what);
}

function plantOne(at, { kind, content, mode, target }) {
  fs.mkdirSync(path.dirname(at), { recursive: true, mode: 0o700 });
  if (kind === "dir") fs.mkdirSync(at, { recursive: true, mode: 0o700 });
  else if (kind === "file") fs.writeFileSync(at, content, { mode });
  else if (kind === "link") fs.symlinkSync(target, at);
  else if (kind === "hardLink") fs.linkSync(target, at);
  else if (kind === "fifo") execFileSync("mkfifo", [at]);
  else if (kind === "device") execFileSync("mknod", [at, "c", "1", "5"]);
  else if (kind === "socket") plantSocket(at);
  else throw new Error(`cannot plant ${kind}`);
}

/** A killed process leaves its socket behind. */
function plantSocket(at) {
  const program = `require("net").createServer().listen(${JSON.stringify(at)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", program], { timeout: 10_000 });
  if (!fs.lstatSync(at).isSocket()) throw new Error("no socket was made");
}

const KINDS = [
  ["isFile", "file"],
  ["isDirectory", "dir"],
  ["isSymbolicLink", "link"],
  ["isFIFO", "fifo"],
  ["isSocket", "socket"],
  ["isCharacterDevice", "device"],
];
export const kindOf = (stat) => KINDS.find(([is]) => stat[is]())?.[1] ?? "other";

/**
 * Everything below a folder, by name: kind, mode, size, sha256 or target, and the inode and times of files, so that a
 * file that was replaced by an equal one shows as well. Names that are not UTF-8 are given byte by byte (latin1, marked).
 */
export function snapshot(root) {
  const seen = {};
  walk(Buffer.from(root), "", seen);
  return seen;
}

function walk(at, below, seen) {
  const names = fs.readdirSync(at, { encoding: "buffer" }).sort(Buffer.compare);
  for (const raw of names) {
    const full = Buffer.concat([at, Buffer.from("/"), raw]);
    const utf8 = raw.toString("utf8");
    const name = below + (Buffer.from(utf8).equals(raw) ? utf8 : `latin1:${raw.toString("latin1")}`);
    const stat = fs.lstatSync(full, { bigint: true });
    const kind = kindOf(stat);
    const entry = { kind, mode: (Number(stat.mode) & 0o7777).toString(8) };
    if (kind === "link") entry.target = fs.readlinkSync(full);
    if (kind === "file") {
      Object.assign(entry, {
        bytes: Number(stat.size),
        sha256: sha256(fs.readFileSync(full)),
        ino: String(stat.ino),
        mtime: String(stat.mtimeNs),
      });
    }
    seen[name] = entry;
    if (kind === "dir") walk(full, `${name}/`, seen);
  }
}

/** Names alone, sorted by bytes. */
export const names = (root) =>
  Object.keys(snapshot(root)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** What no finished write or remove may leave: anything inside a host's staging folder, anything in the trash. */
export function leftovers(dataDir) {
  const found = [];
  const list = (folder) => {
    try {
      return fs.readdirSync(folder);
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
      throw error;
    }
  };
  for (const key of list(path.join(dataDir, "sessions"))) {
    for (const host of list(path.join(dataDir, "sessions", key, "staging"))) {
      for (const name of list(path.join(dataDir, "sessions", key, "staging", host)))
        found.push(`sessions/${key}/staging/${host}/${name}`);
    }
  }
  for (const name of list(path.join(dataDir, "trash"))) found.push(`trash/${name}`);
  return found;
}

/** The roots of one session, as one picture. */
export function rootsSnapshot(roots) {
  const home = path.dirname(roots.session);
  return {
    session: snapshot(roots.session),
    artifacts: snapshot(roots.artifacts),
    persistent: optional(path.join(home, "persistent")),
  };
}

const optional = (folder) => (fs.existsSync(folder) ? snapshot(folder) : undefined);
