// What is told of loads and commits: to onEvent and to the session's trace, with counts and durations.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  at,
  DIR,
  finish,
  inTurn,
  leavePending,
  pendingOf,
  shell,
  stepsOf,
  withStore,
} from "./support/persistent/session.mjs";
import { KINDS, newStore, StoreFailure } from "./support/persistent/stores.mjs";

const LOADED = "harness.persistent_dir.loaded";
const STARTED = "harness.persistent_dir.commit.started";
const SUCCEEDED = "harness.persistent_dir.commit.succeeded";
const FAILED = "harness.persistent_dir.commit.failed";

/** The metadata of each event of this type since the last call. */
function taken(events, type) {
  const found = events.filter((event) => event.type === type);
  for (const event of found) {
    assert.equal(event.schemaVersion, "lh.trace.v2");
    assert.equal(event.sessionId, "test");
    assert.equal(event.metadata.harnessDir, DIR);
    assert.equal(structuredClone(event) !== event, true);
    if ("durationMs" in event.metadata)
      assert.ok(Number.isFinite(event.metadata.durationMs) && event.metadata.durationMs >= 0);
  }
  return found.map(({ metadata }) => metadata);
}

const counts = (created = 0, updated = 0, deleted = 0) => ({ created, updated, deleted });

for (const kind of KINDS) {
  test(`${kind}: a load is told once, with what came in`, async (t) => {
    const store = await newStore(kind)(t);
    store.write("a.txt", "12345");
    store.write("b/c.txt", "123");
    const h = await withStore(t, store);
    await h.files.read(at("a.txt"));
    const [first, ...more] = taken(h.events.splice(0), LOADED);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [first.fileCount, first.bytes, first.changeCounts, first.conflicts, first.skipped],
      [2, 8, counts(2), 0, 0],
    );
    assert.equal(typeof first.durationMs, "number");
    store.write("a.txt", "1");
    store.write("new.txt", "12");
    store.remove("b/c.txt");
    const turn = await h.main.beginTurn();
    const events = h.events.splice(0);
    const [second] = taken(events, LOADED);
    assert.deepEqual([second.fileCount, second.bytes, second.changeCounts], [2, 3, counts(1, 1, 1)]);
    assert.equal(events.find(({ type }) => type === LOADED).turnId, turn.id, "it belongs to the turn");
    await turn.abort();
    await (await h.main.beginTurn()).abort();
    assert.deepEqual(taken(h.events.splice(0), LOADED)[0].changeCounts, counts());
  });

  test(`${kind}: a commit is told when it starts and when it has landed`, async (t) => {
    const store = await newStore(kind)(t);
    store.write("a.txt", "old");
    store.write("gone.txt", "old");
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a.txt"), "new");
    await turn.files.write(at("made.txt"), "new");
    await turn.files.remove(at("gone.txt"));
    h.events.length = 0;
    await finish(turn);
    assert.deepEqual(
      stepsOf(h.events).filter((step) => step !== "loaded"),
      ["commit.started", "commit.succeeded"],
    );
    const [started] = taken(h.events, STARTED);
    const [succeeded] = taken(h.events, SUCCEEDED);
    assert.deepEqual(started.changeCounts, counts(1, 1, 1));
    assert.deepEqual(succeeded.changeCounts, counts(1, 1, 1));
    assert.ok(typeof started.commitId === "string" && started.commitId.length > 0);
    assert.equal(succeeded.commitId, started.commitId);
    assert.equal(typeof succeeded.durationMs, "number");
    assert.deepEqual(
      started.changes.map(({ path: name, change }) => `${change} ${name}`).sort(),
      // Told by the dir's own names or by whole paths: the names are there.
      started.changes[0].path.startsWith("/")
        ? [`created ${at("made.txt")}`, `deleted ${at("gone.txt")}`, `updated ${at("a.txt")}`]
        : ["created made.txt", "deleted gone.txt", "updated a.txt"],
    );
    assert.equal(h.events.find(({ type }) => type === STARTED).turnId, turn.id);
    h.events.length = 0;
    await inTurn(h.main);
    assert.deepEqual(stepsOf(h.events), ["loaded"], "nothing to commit, nothing to tell");
  });

  test(`${kind}: a commit that fails is told, and so is the retry`, async (t) => {
    const store = await newStore(kind)(t);
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a.txt"), "a");
    h.events.length = 0;
    const heal = store.fail(1, "before");
    await finish(turn);
    heal();
    const [failed, ...more] = taken(h.events, FAILED);
    assert.deepEqual(more, []);
    assert.equal(failed.error.code, "FS_COMMIT_FAILED");
    assert.ok(failed.error.message.length > 0);
    assert.equal(typeof failed.durationMs, "number");
    const first = taken(h.events, STARTED)[0];
    h.events.length = 0;
    await h.persistence.commit();
    const [again] = taken(h.events, STARTED);
    if (first) assert.equal(again.commitId, first.commitId, "the same changes, the same commit");
    assert.equal(taken(h.events, SUCCEEDED).length, 1);
  });

  test(`${kind}: a conflict is told by the load and by the commit`, async (t) => {
    const store = await newStore(kind)(t);
    store.write("a.txt", "old");
    const h = await withStore(t, store);
    await leavePending(h.main, (files) => files.write(at("a.txt"), "ours"));
    store.write("a.txt", "theirs");
    h.events.length = 0;
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.equal(taken(h.events, LOADED)[0].conflicts, 1);
    const [failed] = taken(h.events, FAILED);
    assert.equal(failed.error.code, "FS_CONFLICT");
    assert.equal(taken(h.events, SUCCEEDED).length, 0);
  });
}

test("at most 200 changes are listed, the counts are those of all", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  await inTurn(h.main, async (files) => {
    for (let n = 0; n < 250; n++) await files.write(at(`${n}.txt`), String(n));
  });
  const [started] = taken(h.events, STARTED);
  assert.deepEqual(started.changeCounts, counts(250));
  assert.equal(started.changes.length, 200);
});

test("a load that fails is not told as loaded", async (t) => {
  const store = await newStore("map")(t);
  const h = await withStore(t, store);
  store.failLoads.push(new StoreFailure("down"));
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  assert.equal(taken(h.events, LOADED).length, 0);
});

test("the trace has them, in order, numbered with all others", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a.txt"), "a");
  store.fail(1, "before");
  await finish(turn);
  await h.persistence.commit();
  await h.close();
  const lines = fs.readFileSync(path.join(h.home, "trace.ndjson"), "utf8").trimEnd().split("\n");
  const traced = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    stepsOf(traced).filter((step) => step !== "loaded"),
    ["commit.started", "commit.failed", "commit.started", "commit.succeeded"],
  );
  assert.deepEqual(stepsOf(h.events), stepsOf(traced), "onEvent and the trace tell the same");
  const sequences = traced.map(({ sequence }) => sequence);
  assert.equal(new Set(sequences).size, sequences.length);
});

test("writes under a dir are told as file events; a refresh is no write of ours", async (t) => {
  const store = await newStore("local")(t);
  store.write("theirs.txt", "t");
  const h = await withStore(t, store);
  await inTurn(h.main, async (files) => {
    await files.write(at("made.txt"), "1");
    await files.write(at("made.txt"), "2");
    await files.remove(at("made.txt"));
  });
  const told = h.events
    .filter(({ type }) => type.startsWith("harness.file."))
    .map((event) => `${event.type} ${event.metadata.path}`);
  for (const type of ["created", "updated", "deleted"])
    assert.ok(told.includes(`harness.file.${type} ${at("made.txt")}`), String(told));
  assert.ok(!told.some((each) => each.includes("theirs.txt")), String(told));
});

test("a commit of nothing that can be sent is told as failed, and never as started", async (t) => {
  const store = await newStore("local")(t);
  store.write("file.txt", "base");
  const h = await withStore(t, store);
  await inTurn(h.main, () => {
    fs.rmSync(path.join(h.checkout, "file.txt"));
    fs.symlinkSync("nowhere", path.join(h.checkout, "file.txt"));
  });
  assert.deepEqual(stepsOf(h.events), ["loaded", "commit.failed"]);
  const { metadata } = h.events.findLast(({ type }) => type === "harness.persistent_dir.commit.failed");
  assert.equal(metadata.error.code, "FS_NOT_REGULAR_FILE");
  assert.deepEqual(["commitId" in metadata, "changeCounts" in metadata], [false, false]);
});

test("a link that a shell left is told once", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  await inTurn(h.main, () => {
    fs.symlinkSync("nowhere", path.join(h.checkout, "link"));
    shell.write(h.checkout, "fine.txt", "x");
  });
  const about = () =>
    h.events.filter(
      (event) =>
        JSON.stringify(event.metadata).includes(`${DIR}/link`) || JSON.stringify(event.metadata).includes('"link"'),
    );
  assert.equal(about().length, 1, JSON.stringify(h.events.map(({ type, metadata }) => [type, metadata]).slice(-6)));
  await inTurn(h.main);
  assert.equal(about().length, 1, "not at every scan");
  assert.deepEqual(await pendingOf(h.main), []);
});
