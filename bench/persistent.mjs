// Persistent Dirs: what a turn costs on a large folder of which little changed, and what a commit of many small files costs.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { localDir } from "@little-stack/files";
import { compare, median, row } from "./harness.mjs";
import { node, ours, temporary, withSession } from "./peers.mjs";

const harnessDir = "/persistent/notes";
const small = 4_096;
const turns = 5;

export async function persistent({ quick }) {
  const rounds = quick ? 2 : 3;
  const many = quick ? 1_000 : 10_000;
  const changed = 10;
  const unit = many.toLocaleString("en");
  const turn = await compare(
    `a turn on ${unit} files, ${changed} changed`,
    {
      [ours]: (folder) => withDir(folder, many, (session) => ourTurns(session, changed)),
      [node]: (folder) => plainTurns(folder, many, changed),
    },
    { rounds },
  );
  const batch = quick ? 100 : 1_000;
  const sent = batch.toLocaleString("en");
  const commit = await compare(
    `commit of ${sent} new files, flushed`,
    {
      [ours]: (folder) => withDir(folder, 0, (session) => ourCommit(session, batch)),
      [node]: async (folder) => ({ time: plainCommit(folder, batch) }),
    },
    { rounds: quick ? 2 : 5 },
  );
  return [
    row(`a turn on a Persistent Dir of ${unit} files, ${changed} changed: start and finish`, turn, "time", "ms"),
    row("… the start", turn, "start", "ms"),
    row(`commit of ${sent} new files of 4 KiB, flushed`, commit, "time", "ms"),
  ];
}

// ── A turn ──

/** A turn that finds everything warm: the files are known, and their stamps old enough to be believed. */
async function ourTurns(session, changed) {
  await ourTurn(session, changed, -2);
  await ourTurn(session, changed, -1);
  const samples = [];
  for (let n = 0; n < turns; n += 1) samples.push(await ourTurn(session, changed, n));
  return { time: middle(samples, "time"), start: middle(samples, "start") };
}

/** The changes themselves are outside of the clock, for both. */
async function ourTurn(session, changed, round) {
  const begun = performance.now();
  const turn = await session.beginTurn();
  const start = performance.now() - begun;
  for (let n = 0; n < changed; n += 1) await turn.files.write(`${harnessDir}/${nameOf(n)}`, contentOf(round, n));
  const ended = performance.now();
  const { persistence } = await turn.finish();
  const finish = performance.now() - ended;
  const { updated } = persistence.commits[0].changes;
  if (updated !== changed) throw new Error(`${updated} files were committed.`);
  return { start, time: start + finish };
}

/** As a system without an index does it: all files are read and hashed when the turn begins, and again when it ends. */
async function plainTurns(folder, count, changed) {
  const tree = await fill(join(folder, "checkout"), count);
  const samples = [];
  for (let round = 0; round < 2; round += 1) {
    const begun = performance.now();
    const before = await hashAll(tree);
    const start = performance.now() - begun;
    for (let n = 0; n < changed; n += 1) await writeFile(join(tree, nameOf(n)), contentOf(round, n));
    const ended = performance.now();
    const after = await hashAll(tree);
    const found = [...after].filter(([name, hash]) => before.get(name) !== hash);
    samples.push({ start, time: start + performance.now() - ended });
    if (found.length !== changed) throw new Error(`${found.length} changes were found.`);
  }
  return { time: middle(samples, "time"), start: middle(samples, "start") };
}

async function hashAll(tree) {
  const hashes = new Map();
  for (const entry of await readdir(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const name = join(entry.parentPath, entry.name);
    hashes.set(
      name,
      createHash("sha256")
        .update(await readFile(name))
        .digest("hex"),
    );
  }
  return hashes;
}

// ── A commit ──

/** The turn's whole `finish`: the scan, the copies that are sent, the source, and the record of it. */
async function ourCommit(session, count) {
  const turn = await session.beginTurn();
  const write = (n) => turn.files.write(`${harnessDir}/${n}.txt`, contentOf(0, n));
  for (let from = 0; from < count; from += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - from) }, (_, n) => write(from + n)));
  }
  const begun = performance.now();
  const { persistence } = await turn.finish();
  const time = performance.now() - begun;
  const { created } = persistence.commits[0].changes;
  if (created !== count) throw new Error(`${created} files were committed.`);
  return { time };
}

/** Each file whole and flushed, one after the other, and the folder once. A crash half-way leaves half of them. */
function plainCommit(folder, count) {
  const target = join(folder, "source");
  mkdirSync(target);
  const begun = performance.now();
  for (let n = 0; n < count; n += 1) {
    const file = join(target, `${n}.txt`);
    const temp = temporary(file);
    const handle = openSync(temp, "w");
    writeSync(handle, contentOf(0, n));
    fsyncSync(handle);
    closeSync(handle);
    renameSync(temp, file);
  }
  const handle = openSync(target, "r");
  fsyncSync(handle);
  closeSync(handle);
  return performance.now() - begun;
}

// ── Files ──

async function withDir(folder, count, work) {
  const source = await fill(join(folder, "source"), count);
  const persistentDirs = [localDir({ harnessDir, sourceDir: source })];
  return withSession(join(folder, "data"), { persistentDirs }, work);
}

/** 100 in a folder. */
async function fill(tree, count) {
  mkdirSync(tree, { recursive: true });
  for (let n = 0; n < count; n += 1) {
    if (n % 100 === 0) mkdirSync(join(tree, String(n / 100)));
    writeFileSync(join(tree, nameOf(n)), contentOf("first", n));
  }
  return tree;
}

const nameOf = (n) => join(String(Math.floor(n / 100)), `${n}.txt`);

const filler = randomBytes(small / 2).toString("hex");
const contentOf = (round, n) => `${round} ${n} ${filler}`.slice(0, small);

const middle = (samples, metric) => median(samples.map((sample) => sample[metric]));
