// Waiting for a lock: it honours the signal, ends in FS_BUSY, blocks nobody else, and ends at once when the holder dies.
// The lock is held by another program, as STORAGE.md, "Locks" describes it: a flock on `publish.lock`.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { HarnessFileError } from "@little-stack/files";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { copyPackage, holdLock, sleep } from "./support/process.mjs";
import { leftovers, sha256, snapshot } from "./support/tree.mjs";

async function* slices() {
  yield Buffer.from("str");
  yield Buffer.from("eam");
}
const publishing = {
  "write a new file": (files, options) => files.write("/session/new/er.txt", "new", options),
  "replace a file": (files, options) => files.write("/session/a.txt", "new", options),
  "guarded write": (files, options) => files.write("/session/a.txt", "new", { ifMatch: sha256("there"), ...options }),
  "write a stream": (files, options) => files.write("/session/a.txt", slices(), options),
  writeText: (files, options) => files.writeText("/session/a.txt", "new", options),
  writeJSON: (files, options) => files.writeJSON("/session/a.txt", { new: true }, options),
  remove: (files, options) => files.remove("/session/a.txt", options),
  "recursive remove": (files, options) => files.remove("/session/tree", { recursive: true, ...options }),
};

async function withLock(t, name = "publish.lock") {
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "there");
  await h.files.write("/session/tree/b.txt", "there");
  const holder = await holdLock(t, path.join(h.home, name));
  return holder && { h, holder };
}

async function stillWaiting(promise, ms = 300) {
  const state = await Promise.race([
    promise.then(
      () => "done",
      (error) => error.code,
    ),
    sleep(ms).then(() => "waiting"),
  ]);
  assert.equal(state, "waiting");
}

// Side by side, since most of the time goes by waiting.
describe("locks", { concurrency: true }, () => {
  test("the signal ends the wait for each call that publishes; nothing changed", async (t) => {
    const held = await withLock(t);
    if (!held) return;
    const { h } = held;
    const before = snapshot(h.roots.session);
    for (const [what, call] of Object.entries(publishing)) {
      const controller = new AbortController();
      const reason = new Error(`enough of ${what}`);
      const pending = call(h.files, { signal: controller.signal });
      await stillWaiting(pending, 200);
      const start = performance.now();
      controller.abort(reason);
      const error = await rejectsWith(pending, "FS_ABORTED");
      assert.equal(error.cause, reason);
      assert.ok(
        performance.now() - start < 2000,
        `${what}: ended ${Math.round(performance.now() - start)} ms after the signal`,
      );
    }
    assert.deepEqual(snapshot(h.roots.session), before);
    assert.deepEqual(leftovers(h.dataDir), []);
  });

  test("when the holder dies the waiting calls go on", async (t) => {
    const held = await withLock(t);
    if (!held) return;
    const { h, holder } = held;
    const writes = Array.from({ length: 20 }, (_, n) => h.files.write(`/session/${n}.txt`, String(n)));
    await stillWaiting(Promise.race(writes));
    await holder.release();
    const start = performance.now();
    await Promise.all(writes);
    assert.ok(performance.now() - start < 5000);
    assert.equal((await h.files.list("/session")).length, 22);
  });

  test("reads, listings and other sessions do not wait, however many calls do", async (t) => {
    const held = await withLock(t);
    if (!held) return;
    const { h, holder } = held;
    const other = await h.session("other");
    const writes = Array.from({ length: 700 }, (_, n) => h.files.write(`/session/many/${n}.txt`, String(n)));
    await stillWaiting(Promise.race(writes));
    const start = performance.now();
    assert.equal((await h.files.read("/session/a.txt")).text(), "there");
    assert.equal((await h.files.list("/session")).length, 2);
    assert.equal((await h.files.stat("/session/a.txt")).bytes, 5);
    for (let n = 0; n < 20; n++) await other.files.write(`/session/${n}.txt`, String(n));
    assert.ok(performance.now() - start < 10_000, `${Math.round(performance.now() - start)} ms`);
    await stillWaiting(Promise.race(writes));
    await holder.release();
    await Promise.all(writes);
  });

  test(
    "a holder that hangs: FS_BUSY after 30 s, nothing changed; once it is dead, writes go on",
    { timeout: 90_000 },
    async (t) => {
      const held = await withLock(t);
      if (!held) return;
      const { h, holder } = held;
      holder.kill("SIGSTOP");
      const before = snapshot(h.roots.session);
      const start = performance.now();
      await Promise.all(
        Object.values(publishing).map(async (call) => {
          await rejectsWith(call(h.files), "FS_BUSY");
          const seconds = (performance.now() - start) / 1000;
          assert.ok(seconds > 25 && seconds < 45, `after ${seconds} s`);
        }),
      );
      assert.deepEqual(snapshot(h.roots.session), before);
      assert.deepEqual(leftovers(h.dataDir), []);
      await holder.release();
      await h.files.write("/session/a.txt", "after");
      assert.equal((await h.files.read("/session/a.txt")).text(), "after");
    },
  );

  test("a lock file that was put in the place of the one before is the one that counts", async (t) => {
    const h = await withHost(t);
    await h.files.write("/session/a.txt", "there");
    fs.rmSync(path.join(h.home, "publish.lock"));
    const holder = await holdLock(t, path.join(h.home, "publish.lock"));
    if (!holder) return;
    const pending = h.files.write("/session/a.txt", "new");
    await stillWaiting(pending);
    await holder.release();
    await pending;
  });

  test("a turn that runs elsewhere: delete is FS_BUSY at once, and the session stays", async (t) => {
    const held = await withLock(t, "turn.lock");
    if (!held) return;
    const { h, holder } = held;
    const before = snapshot(h.roots.session);
    const start = performance.now();
    await rejectsWith(h.sessions.delete("test"), "FS_BUSY");
    assert.ok(performance.now() - start < 5000, "without waiting");
    assert.deepEqual(snapshot(h.roots.session), before);
    await h.files.write("/session/a.txt", "a host write needs no turn");
    await holder.release();
    await h.sessions.delete("test");
    assert.ok(!fs.existsSync(h.home));
  });

  test("a second copy of the package in the process: FS_BUSY on the same dataDir, by whatever name; free on another", async (t) => {
    const h = await withHost(t);
    await h.files.write("/session/a.txt", "there");
    const copy = await import(copyPackage(t));
    const alias = path.join(h.base, "alias");
    fs.symlinkSync(h.dataDir, alias);
    for (const dataDir of [h.dataDir, `${h.dataDir}/`, path.relative(process.cwd(), h.dataDir), alias]) {
      let error;
      assert.throws(
        () => copy.localHost({ dataDir }),
        (thrown) => {
          error = thrown;
          return true;
        },
      );
      assert.equal(error.code, "FS_BUSY", String(error));
      assert.ok(error instanceof copy.HarnessFileError && !(error instanceof HarnessFileError));
      assert.ok(HarnessFileError.isInstance(error), "and yet told for what it is");
    }
    const elsewhere = copy.localHost({ dataDir: path.join(tempDir(t), "data") });
    const session = await elsewhere.sessions.getOrCreate({ id: "a" });
    await session.files.write("/session/a.txt", "x");
    await elsewhere.close();
    assert.equal((await h.files.write("/session/a.txt", "still works")).bytes, 11);
  });

  test("the same copy may open a dataDir twice", async (t) => {
    const first = await withHost(t);
    const second = await withHost(t, { base: first.base });
    await first.files.write("/session/a.txt", "one");
    await second.files.write("/session/a.txt", "two");
    assert.equal((await first.files.read("/session/a.txt")).text(), "two");
    await first.close();
    assert.equal((await second.files.write("/session/a.txt", "three")).bytes, 5);
  });
});
