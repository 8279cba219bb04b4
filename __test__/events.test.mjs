// Every host write and remove gives its events, in order, to onEvent, trace.ndjson and diagnostics_channel alike.
import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { until } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const traceFile = (h) => path.join(h.home, "trace.ndjson");
const traced = (h) =>
  fs
    .readFileSync(traceFile(h), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const types = (events) => events.map((event) => event.type.replace("harness.", ""));
const ofSession = (h) => h.events.filter((event) => event.sessionId === h.main.id);

test("a new file, a changed file, an artifact: types, order and fields", async (t) => {
  const h = await withHost(t);
  const made = await h.files.write("/session/a.txt", "one\n", { source: "user-message", metadata: { upload: 7 } });
  const changed = await h.files.writeText("/session/a.txt", "two\n");
  const marked = await h.files.write("/artifacts/r.csv", "a,b\n", {
    artifact: { name: "R", metadata: { kind: "report" } },
  });
  const events = ofSession(h);
  assert.deepEqual(types(events), [
    "file.created",
    "file.staged_from_host",
    "file.updated",
    "file.staged_from_host",
    "file.created",
    "file.staged_from_host",
    "artifact.created",
  ]);

  const [created, staged, updated] = events.map((event) => event.metadata);
  const { diff, durationMs, ...facts } = created;
  assert.deepEqual(facts, {
    path: "/session/a.txt",
    root: facts.root,
    bytes: 4,
    sha256: made.sha256,
    mediaType: "text/plain",
    source: "user-message",
    metadata: { upload: 7 },
    after: { bytes: 4, sha256: made.sha256 },
  });
  assert.match(facts.root, /session$/);
  assert.ok(Number.isFinite(durationMs) && durationMs >= 0 && durationMs < 60_000);
  assert.equal(typeof diff.available, "boolean");
  const { durationMs: _, ...stagedFacts } = staged;
  assert.deepEqual(stagedFacts, facts, "the same facts, without the diff");
  assert.equal(updated.source, "app-context", "the default of session.files");
  assert.deepEqual(updated.before, { bytes: 4, sha256: made.sha256 });
  assert.deepEqual(updated.after, { bytes: 4, sha256: changed.sha256 });
  assert.equal(updated.metadata, undefined);
  const artifact = events.at(-1).metadata;
  assert.equal(artifact.path, "/artifacts/r.csv");
  assert.deepEqual(artifact.artifact, JSON.parse(JSON.stringify(marked.artifact)));
});

test("the envelope, and the same events in the trace and on the channel", async (t) => {
  const heard = [];
  const listener = (message) => heard.push(message);
  diagnostics.subscribe("little-harness:file", listener);
  t.after(() => diagnostics.unsubscribe("little-harness:file", listener));
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "one");
  await h.files.writeJSON("/session/b.json", { b: 1 });
  await h.files.remove("/session/a.txt");
  await h.files.write("/outside", "x").catch(() => {});
  assert.ok(h.events.length >= 6);
  for (const event of h.events) {
    assert.equal(event.schemaVersion, "lh.trace.v2");
    assert.match(event.type, /^harness\./);
    assert.equal(event.sessionId, "test");
    assert.ok(Number.isSafeInteger(event.sequence));
    assert.equal(typeof event.eventId, "string");
    assert.equal(event.timestamp, new Date(event.timestamp).toISOString());
    assert.ok(Math.abs(Date.now() - Date.parse(event.timestamp)) < 60_000);
    assert.equal(event.turnId, undefined);
    assert.deepEqual(structuredClone(event), event, "a plain object");
  }
  assert.equal(new Set(h.events.map((event) => event.eventId)).size, h.events.length);
  assert.deepEqual(traced(h), h.events);
  assert.deepEqual(heard, h.events);
});

test("events are there when the call resolves; numbered in the order in which the files changed", async (t) => {
  const h = await withHost(t);
  for (let n = 0; n < 20; n++) {
    await h.files.write(`/session/${n}.txt`, String(n));
    assert.equal(ofSession(h).filter((event) => event.metadata.path === `/session/${n}.txt`).length, 2);
  }
  await Promise.all(Array.from({ length: 100 }, (_, n) => h.files.write(`/session/same-${n % 7}.txt`, `content ${n}`)));
  await until(() => ofSession(h).length >= 240, "every event");
  // Those of concurrent calls may be told out of order: the number is what counts.
  const events = ofSession(h).sort((a, b) => a.sequence - b.sequence);
  assert.equal(events.length, 240);
  assert.equal(new Set(events.map((event) => event.sequence)).size, 240);
  const last = new Map();
  for (const { type, metadata } of events.filter((event) => event.metadata.diff)) {
    assert.equal(metadata.before?.sha256, last.get(metadata.path), `${type} starts from what the one before left`);
    assert.equal(type, last.has(metadata.path) ? "harness.file.updated" : "harness.file.created");
    last.set(metadata.path, metadata.after.sha256);
  }
});

test("before is what was really there, also when another program put it there", async (t) => {
  const h = await withHost(t);
  fs.writeFileSync(path.join(h.roots.session, "theirs.txt"), "by a shell");
  await h.files.write("/session/theirs.txt", "ours");
  await h.files.write("/session/known.txt", "first");
  fs.writeFileSync(path.join(h.roots.session, "known.txt"), "FIRST");
  await h.files.write("/session/known.txt", "second");
  await h.files.remove("/session/known.txt");
  const of = (name, type) =>
    ofSession(h).findLast((event) => event.metadata.path === name && event.type === `harness.file.${type}`).metadata;
  assert.deepEqual(of("/session/theirs.txt", "updated").before, { bytes: 10, sha256: sha256("by a shell") });
  assert.deepEqual(of("/session/known.txt", "updated").before, { bytes: 5, sha256: sha256("FIRST") });
  assert.deepEqual(of("/session/known.txt", "deleted").before, { bytes: 6, sha256: sha256("second") });
});

test("a remove gives one event a file, none for a folder", async (t) => {
  const h = await withHost(t);
  const count = 700;
  await Promise.all(
    Array.from({ length: count }, (_, n) => h.files.write(`/session/tree/${n % 10}/${n}.txt`, `content ${n}`)),
  );
  await until(() => h.events.length >= 2 * count, "the events of the writes");
  h.events.length = 0;
  await h.files.remove("/session/tree", { recursive: true });
  await until(() => h.events.length >= count, "an event for each file that went");
  assert.equal(h.events.length, count);
  assert.deepEqual(new Set(h.events.map((event) => event.type)), new Set(["harness.file.deleted"]));
  assert.equal(new Set(h.events.map((event) => event.metadata.path)).size, count);
  for (const { metadata } of h.events) {
    const content = `content ${path.basename(metadata.path, ".txt")}`;
    assert.match(metadata.path, /^\/session\/tree\/\d\/\d+\.txt$/);
    assert.deepEqual(metadata.diff, { available: false, reason: "content_unavailable" });
    if (metadata.before !== undefined)
      assert.deepEqual(metadata.before, { bytes: content.length, sha256: sha256(content) });
    assert.ok(metadata.durationMs >= 0);
  }
  await h.files.remove("/session/tree", { recursive: true, force: true });
  assert.equal(h.events.length, count, "nothing was there, so nothing happened");
});

test("numbers go on across restarts, and over two hosts none comes twice", async (t) => {
  const base = tempDir(t);
  let highest = 0;
  const ids = new Set();
  for (let run = 0; run < 3; run++) {
    const h = await withHost(t, { base });
    await h.files.write(`/session/${run}.txt`, "x");
    for (const event of ofSession(h)) {
      assert.ok(event.sequence > highest, `${event.sequence} after ${highest}`);
      highest = event.sequence;
      assert.ok(!ids.has(event.eventId));
      ids.add(event.eventId);
    }
    await h.close();
  }
  const hosts = [await withHost(t, { base }), await withHost(t, { base })];
  await Promise.all(
    hosts.flatMap((h, at) => Array.from({ length: 40 }, (_, n) => h.files.write(`/session/${at}-${n}.txt`, "x"))),
  );
  for (const h of hosts) {
    const own = ofSession(h).map((event) => event.sequence);
    assert.ok(own.length === 80 && own.every((each) => each > highest));
  }
  const all = traced(hosts[0]);
  assert.equal(new Set(all.map((event) => event.sequence)).size, all.length);
  assert.deepEqual(
    all.filter((event) => event.sequence > highest).sort((a, b) => a.sequence - b.sequence),
    hosts.flatMap(ofSession).sort((a, b) => a.sequence - b.sequence),
  );
});

test("sessions count apart", async (t) => {
  const h = await withHost(t);
  const other = await h.session("other");
  await h.files.write("/session/a", "x");
  await other.files.write("/session/a", "x");
  await h.files.write("/session/b", "x");
  assert.deepEqual(new Set(h.events.map((event) => event.sessionId)), new Set(["test", "other"]));
  assert.deepEqual(traced(h), ofSession(h));
});

test("a sink that throws or rejects harms nothing", async (t) => {
  const warnings = [];
  const onWarning = (warning) => warnings.push(warning);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  let calls = 0;
  const h = await withHost(t, {
    onEvent: () => {
      calls++;
      throw new Error("a broken sink");
    },
  });
  const ref = await h.files.write("/session/a.txt", "one");
  await h.files.remove("/session/a.txt");
  assert.equal(ref.sha256, sha256("one"));
  assert.equal(calls, 3, "it is called for every event all the same");
  assert.equal(traced(h).length, 3);
  await h.close();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  assert.ok(warnings.length <= 1, "said once at most");
});

test("trace: false writes no trace", async (t) => {
  const h = await withHost(t, { trace: false });
  await h.files.write("/session/a.txt", "one");
  await h.files.remove("/session/a.txt");
  assert.ok(!fs.existsSync(traceFile(h)) || fs.statSync(traceFile(h)).size === 0);
});

for (const torn of [
  '{"schemaVersion":"lh.tra',
  '{"schemaVersion":"lh.trace.v2","type":"harness.file.created","sequence":1',
  "\u0000\u0000\u0000",
]) {
  test(`a torn last line is skipped: ${JSON.stringify(torn)}`, async (t) => {
    const base = tempDir(t);
    const first = await withHost(t, { base });
    await first.files.write("/session/a.txt", "one");
    const highest = Math.max(...traced(first).map((event) => event.sequence));
    await first.close();
    fs.appendFileSync(traceFile(first), torn);
    const second = await withHost(t, { base });
    await second.files.write("/session/b.txt", "two");
    const whole = fs
      .readFileSync(traceFile(second), "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line)];
        } catch {
          return [];
        }
      });
    assert.deepEqual(whole.slice(-2), ofSession(second), "what comes after it is on lines of its own");
    assert.equal(whole.length, 4);
    assert.ok(ofSession(second).every((event) => event.sequence > highest));
    await second.close();
  });
}
