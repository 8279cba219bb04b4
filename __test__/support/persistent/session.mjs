// Sessions with Persistent Dirs: turns ended in one line, and what is pending, in conflict or in a folder as short texts.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { HarnessFileError } from "@little-stack/files";
import { assertError, withHost } from "../host.mjs";
import { see } from "../observe.mjs";
import { sha256 } from "../tree.mjs";

export const DIR = "/persistent/user";
export const at = (name) => `${DIR}/${name}`;

/**
 * A host with one dir over this store: what `withHost` gives, with the dir's real folder as `checkout`, the first
 * session's `persistence`, and `failures`, which onPersistenceError was called with.
 */
export async function withStore(t, store, { commit, byUser, dirOptions, ...options } = {}) {
  const persistentDirs = [store.dir({ harnessDir: DIR, commit, byUser, ...dirOptions })];
  return withDirs(t, persistentDirs, options);
}

/** What `withHost` gives, and `again(options)`: another host on the same dataDir with the same dirs. */
export async function withDirs(t, persistentDirs, options = {}) {
  const failures = [];
  const onPersistenceError = (failure) => {
    failures.push(failure);
    seeResult(failure);
    return options.onPersistenceError?.(failure);
  };
  const h = await withHost(t, { ...options, persistentDirs, onPersistenceError });
  const again = (more = {}) => withDirs(t, persistentDirs, { ...options, ...more, base: h.base });
  return { ...h, failures, again, checkout: h.roots.persistent[DIR], persistence: h.main.persistence };
}

// ── Turns ──

/** Runs `work(turn.files, turn)` in a turn and finishes it. Gives what `finish` gives. */
export async function inTurn(session, work = () => {}, options = undefined) {
  const turn = await session.beginTurn(options);
  try {
    await work(turn.files, turn);
  } catch (error) {
    await turn.abort(error);
    throw error;
  }
  return finish(turn);
}

/** Runs `work` in a turn and aborts it: what it changed is pending. */
export async function leavePending(session, work, options = undefined) {
  const turn = await session.beginTurn(options);
  try {
    await work(turn.files, turn);
  } finally {
    await turn.abort(new Error("left pending on purpose"));
  }
}

export async function finish(turn, options = undefined) {
  const finished = await turn.finish(options);
  seeStatus(finished.persistence);
  return finished;
}

function seeResult(result) {
  see("other", result);
  if (result.error !== undefined) see("error", result.error);
}
export function seeStatus(status) {
  for (const each of status.commits ?? []) seeResult(each);
  for (const each of status.failedCommits ?? []) seeResult(each);
}

// ── Statuses ──

/** Every dir's commit went well. `changes`, where given: the counts of the only dir. */
export function assertLanded(status, changes = undefined) {
  seeStatus(status);
  assert.equal(status.status, "succeeded", JSON.stringify(status));
  assert.equal("failedCommits" in status, false);
  for (const each of status.commits) {
    assert.equal(each.error, undefined);
    assert.notEqual(each.status, "failed");
  }
  if (changes === undefined) return;
  assert.equal(status.commits.length, 1);
  assert.equal(status.commits[0].status, "succeeded");
  assert.deepEqual(status.commits[0].changes, { created: 0, updated: 0, deleted: 0, ...changes });
}

/** The commit of this dir failed so. Gives the error. */
export function assertFailed(status, code, harnessDir = DIR) {
  seeStatus(status);
  assert.equal(status.status, "failed", JSON.stringify(status));
  assert.deepEqual(
    status.failedCommits,
    status.commits.filter((each) => each.status === "failed"),
  );
  const failed = status.failedCommits.filter((each) => each.harnessDir === harnessDir);
  assert.equal(failed.length, 1, `no failed commit of ${harnessDir}: ${JSON.stringify(status)}`);
  assert.ok(failed[0].error instanceof HarnessFileError, String(failed[0].error));
  assertError(failed[0].error, code);
  return failed[0].error;
}

// ── What is pending, what is in conflict ──

/** ["created a.txt", …] of one dir, in the order of their names; checked against what is on the disk. */
export async function pendingOf(session, harnessDir = DIR) {
  const folder = session.hostPaths().persistent[harnessDir];
  const found = [];
  for (const each of await session.persistence.pending()) {
    if (each.harnessDir !== harnessDir) continue;
    assert.ok(each.path.startsWith(`${harnessDir}/`), each.path);
    assert.ok(["created", "updated", "deleted"].includes(each.change), each.change);
    assert.ok(each.since instanceof Date && !Number.isNaN(each.since.getTime()));
    assert.ok(Number.isInteger(each.attempts) && each.attempts >= 0);
    const name = each.path.slice(harnessDir.length + 1);
    const real = path.join(folder, name);
    if (each.change === "deleted") {
      assert.equal(each.sha256, undefined);
    } else if (each.lastError?.code !== "FS_NOT_REGULAR_FILE") {
      const bytes = fs.readFileSync(real);
      assert.deepEqual([each.bytes, each.sha256], [bytes.length, sha256(bytes)], each.path);
    }
    found.push(`${each.change} ${name}`);
  }
  return found.sort(byName);
}
const byName = (a, b) => {
  const [left, right] = [a, b].map((each) => each.slice(each.indexOf(" ") + 1));
  return left < right ? -1 : Number(left > right);
};

/** Path → "base|ours|theirs" of one dir, "-" for a side that has no file; contents are told by `texts`, else by their hash. */
export async function conflictsOf(session, texts = [], harnessDir = DIR) {
  const known = new Map(texts.map((text) => [sha256(text), text]));
  const shown = (side) => (side === undefined ? "-" : (known.get(side.sha256) ?? side.sha256));
  const found = {};
  for (const each of await session.persistence.conflicts()) {
    if (each.harnessDir !== harnessDir) continue;
    const name = each.path.slice(harnessDir.length + 1);
    assert.equal(name in found, false, `${name} is told twice`);
    found[name] = [each.base, each.ours, each.theirs].map(shown).join("|");
  }
  return found;
}

export async function theirsOf(session, file) {
  const conflict = (await session.persistence.conflicts()).find((each) => each.path === file);
  assert.ok(conflict, `${file} is not in conflict`);
  return conflict.readTheirs();
}

// ── Contents ──

/** Every regular file below a folder: name → bytes. What a localDir keeps for itself is left out. */
export function filesOf(folder) {
  const found = new Map();
  const walk = (here, below) => {
    for (const entry of fs.readdirSync(here, { withFileTypes: true })) {
      if (below === "" && entry.name === ".little-harness") continue;
      if (entry.isDirectory()) walk(path.join(here, entry.name), `${below}${entry.name}/`);
      else if (entry.isFile()) found.set(below + entry.name, fs.readFileSync(path.join(here, entry.name)));
    }
  };
  if (fs.existsSync(folder)) walk(folder, "");
  return found;
}

/** `held`: name → bytes. `wanted`: the same, or an object of texts. Names such as `__proto__` need a Map. */
export function assertHolds(held, wanted, message = undefined) {
  const list = (map) =>
    [...map].map(([name, bytes]) => [name, printable(bytes)]).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  const map = wanted instanceof Map ? wanted : new Map(Object.entries(wanted));
  assert.deepEqual(list(held), list(map), message);
}

function printable(bytes) {
  const buffer = Buffer.from(bytes);
  return buffer.length <= 200 ? buffer.toString("latin1") : `${buffer.length} bytes ${sha256(buffer)}`;
}

/** What is in the checkout, written by a shell: without the package. */
export const shell = {
  write(folder, name, content) {
    const real = path.join(folder, name);
    fs.mkdirSync(path.dirname(real), { recursive: true });
    fs.writeFileSync(real, content);
  },
  remove: (folder, name) => fs.rmSync(path.join(folder, name), { recursive: true }),
};

/** The types of events of Persistent Dirs, without their prefix. */
export const stepsOf = (events) =>
  events
    .filter(({ type }) => type.startsWith("harness.persistent_dir."))
    .map(({ type }) => type.slice("harness.persistent_dir.".length));
