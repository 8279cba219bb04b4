// Whole streams: back-pressure, files of other sessions, Node streams, and closing while one is written.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { assertUntouched, assertWrites, NAME, withOld } from "./support/old-file.mjs";
import { big, bytes, MIB, turn } from "./support/sources.mjs";
import { assertNoListeners } from "./support/watched.mjs";

test(
  "back-pressure: a source is never asked for more than a few batches ahead of the disk",
  { timeout: 60_000 },
  async (t) => {
    const h = await withHost(t, { durability: "none", trace: { diff: false } });
    let given = 0;
    const source = (async function* generate() {
      for (; given < 64; given++) yield bytes(MIB);
    })();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const ref = await h.files.write(NAME, source).finally(() => clearInterval(timer));
    assert.equal(ref.bytes, 64 * MIB);
    assert.ok(most < 48 * MIB, `${Math.round(most / MIB)} MiB of buffers at once`);
  },
);

test("a file of another session streams straight in, and its failure is a failed source", async (t) => {
  const h = await withOld(t);
  const other = await h.host.sessions.getOrCreate({ id: "other" });
  await other.files.write("/session/big", big);
  await assertWrites(h, await other.files.readStream("/session/big"), big);
  await h.files.write(NAME, "old");
  const controller = new AbortController();
  const stream = await other.files.readStream("/session/big", { signal: controller.signal });
  const writing = h.files.write(NAME, stream);
  controller.abort();
  const error = await rejectsWith(writing, "FS_INVALID_CONTENT");
  assert.equal(error.cause.code, "FS_ABORTED");
  await assertUntouched(h);
});

test("a Node stream from a file that goes, and one that is destroyed on the way", async (t) => {
  const h = await withOld(t);
  const base = tempDir(t);
  const missing = await rejectsWith(
    h.files.write(NAME, fs.createReadStream(path.join(base, "missing"))),
    "FS_INVALID_CONTENT",
  );
  assert.equal(missing.cause.code, "ENOENT");
  fs.writeFileSync(path.join(base, "big"), big);
  await assertWrites(h, fs.createReadStream(path.join(base, "big")), big);
  await h.files.write(NAME, "old");
  for (const failure of [undefined, new Error("mine")]) {
    const stream = fs.createReadStream(path.join(base, "big"), { highWaterMark: 1024 });
    stream.once("readable", () => setImmediate(() => stream.destroy(failure)));
    const error = await rejectsWith(h.files.write(NAME, stream), "FS_INVALID_CONTENT");
    if (failure !== undefined) assert.equal(error.cause, failure);
    await turn();
    assertNoListeners(stream);
  }
  await assertUntouched(h);
});

test("closing waits for writes under way; a source then ends as it would have", async (t) => {
  const h = await withOld(t);
  const session = await h.host.sessions.getOrCreate({ id: "test" });
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  const writing = session.files.write(
    NAME,
    (async function* generate() {
      yield "new ";
      await gate;
      yield "content";
    })(),
  );
  let closed = false;
  const closing = session.close().then(() => {
    closed = true;
  });
  await rejectsWith(session.files.stat(NAME), "FS_CLOSED");
  await turn();
  assert.ok(!closed);
  release();
  await writing;
  await closing;
  assert.equal((await h.files.read(NAME)).text(), "new content");
});
