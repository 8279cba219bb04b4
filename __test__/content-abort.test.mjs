// A signal ends a write at any time: the old file stands, the source was told once, and no listener is left.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { after, rejectsWith } from "./support/host.mjs";
import { assertUntouched, NAME, withOld } from "./support/old-file.mjs";
import { bytes, later, MIB, turn } from "./support/sources.mjs";
import { leftovers } from "./support/tree.mjs";
import { assertNoListeners, asynchronous, chunk } from "./support/watched.mjs";

const listeners = (signal) => getEventListeners(signal, "abort").length;

test("aborted before: nothing is done, by any method; the cause is the reason", async (t) => {
  const h = await withOld(t);
  const reason = new Error("enough");
  const options = { signal: AbortSignal.abort(reason) };
  for (const call of [
    () => h.files.write(NAME, "new", options),
    () => h.files.writeText(NAME, "new", options),
    () =>
      h.files.writeJSON(
        NAME,
        {
          get a() {
            throw new Error("read");
          },
        },
        options,
      ),
    () => h.files.read(NAME, options),
    () => h.files.readStream(NAME, options),
    () => h.files.list("/session", options),
    () => h.files.remove(NAME, options),
  ]) {
    const error = await rejectsWith(call(), "FS_ABORTED");
    assert.equal(error.cause, reason);
    assert.equal(listeners(options.signal), 0);
  }
  await assertUntouched(h);
});

for (const [kind, watch] of asynchronous) {
  test(`${kind}: aborted while the source gives nothing`, { timeout: 20_000 }, async (t) => {
    const h = await withOld(t);
    for (const good of [0, 1, 8]) {
      const controller = new AbortController();
      const seen = watch((at) => (at < good ? chunk() : new Promise(() => {})));
      const writing = h.files.write(NAME, seen.content, { signal: controller.signal });
      setTimeout(() => controller.abort("stop"), 30);
      const error = await rejectsWith(writing, "FS_ABORTED", { path: NAME });
      assert.equal(error.cause, "stop");
      assert.equal(listeners(controller.signal), 0);
      // A generator hears of it only when what it waits for comes, as with `for await`.
      if (kind !== "async generator") assert.equal(seen.told, 1, "told once");
      await assertUntouched(h);
      await turn();
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: aborted in full flow`, { timeout: 20_000 }, async (t) => {
    const h = await withOld(t);
    for (const wait of [0, 2, 10]) {
      const controller = new AbortController();
      const seen = watch(async () => {
        await turn();
        return chunk();
      });
      const writing = h.files.write(NAME, seen.content, { signal: controller.signal });
      setTimeout(() => controller.abort(), wait);
      const error = await rejectsWith(writing, "FS_ABORTED", { path: NAME });
      assert.equal(error.cause, controller.signal.reason);
      assert.equal(listeners(controller.signal), 0);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      assert.equal(seen.told, 1, "told once");
      const { pulls } = seen;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      assert.equal(seen.pulls, pulls, "nothing is read after that");
      await assertUntouched(h);
    }
  });
}

test("aborted during a long writeJSON or a long sync iterable", { timeout: 60_000 }, async (t) => {
  const h = await withOld(t);
  const rows = Array.from({ length: 300_000 }, (_, id) => ({ id, name: `User ${id}` }));
  let told = 0;
  const endless = {
    *[Symbol.iterator]() {
      try {
        for (;;) yield chunk();
      } finally {
        told++;
      }
    },
  };
  for (const write of [
    (options) => h.files.writeJSON(NAME, rows, options),
    (options) => h.files.write(NAME, endless, options),
    (options) => h.files.write(NAME, "ü".repeat(200 * MIB), options),
  ]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    await rejectsWith(write({ signal: controller.signal }), "FS_ABORTED", { path: NAME });
    assert.equal(listeners(controller.signal), 0);
    await assertUntouched(h);
  }
  assert.equal(told, 1);
});

test("one signal for many calls at once: no warning, one abort ends all, no listener stays", async (t) => {
  const h = await withOld(t);
  const warnings = [];
  const warned = (warning) => warnings.push(warning);
  process.on("warning", warned);
  after(t, () => process.off("warning", warned));
  const { signal } = new AbortController();
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => h.files.write(`/session/${at}.txt`, later(["x"]), { signal })),
  );
  await Promise.all(Array.from({ length: 40 }, (_, at) => h.files.read(`/session/${at}.txt`, { signal })));
  assert.equal(listeners(signal), 0);
  const controller = new AbortController();
  const writes = Array.from({ length: 40 }, () =>
    h.files.write(NAME, later([bytes(3), new Promise(() => {})]), { signal: controller.signal }),
  );
  const all = Promise.allSettled(writes);
  await turn();
  controller.abort();
  for (const { status, reason } of await all) assert.deepEqual([status, reason?.code], ["rejected", "FS_ABORTED"]);
  assert.equal(listeners(controller.signal), 0);
  await turn();
  assert.deepEqual(
    warnings.filter((warning) => warning.name === "MaxListenersExceededWarning"),
    [],
  );
  await assertUntouched(h);
});

test("aborted after the file was published: no effect; or it was not published and the old file stands", async (t) => {
  const h = await withOld(t);
  const controller = new AbortController();
  await h.files.write(NAME, later([bytes(10)]), { signal: controller.signal });
  controller.abort();
  assert.equal((await h.files.stat(NAME)).bytes, 10);
  // Whichever comes first, the outcome and the disk agree.
  for (let round = 0; round < 40; round++) {
    await h.files.write(NAME, "old");
    const racing = new AbortController();
    const writing = h.files.write(NAME, round % 2 ? "new" : later(["new"]), { signal: racing.signal });
    if (round % 4 < 2) setImmediate(() => racing.abort());
    else setTimeout(() => racing.abort(), round / 20);
    const done = await writing.then(
      () => true,
      (error) => {
        assert.equal(error.code, "FS_ABORTED");
        return false;
      },
    );
    assert.equal((await h.files.read(NAME)).text(), done ? "new" : "old");
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("AbortSignal.timeout, AbortSignal.any and a signal of another make", async (t) => {
  const h = await withOld(t);
  const never = () => later([new Promise(() => {})]);
  const alive = setInterval(() => {}, 1000); // the timer of AbortSignal.timeout does not keep the process going
  after(t, () => clearInterval(alive));
  const timeout = await rejectsWith(h.files.write(NAME, never(), { signal: AbortSignal.timeout(20) }), "FS_ABORTED");
  assert.equal(timeout.cause.name, "TimeoutError");
  await rejectsWith(
    h.files.write(NAME, never(), { signal: AbortSignal.any([AbortSignal.timeout(20), new AbortController().signal]) }),
    "FS_ABORTED",
  );
  const target = new EventTarget();
  const own = {
    aborted: false,
    reason: "own",
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  setTimeout(() => {
    own.aborted = true;
    target.dispatchEvent(new Event("abort"));
  }, 20);
  assert.equal((await rejectsWith(h.files.write(NAME, never(), { signal: own }), "FS_ABORTED")).cause, "own");
  for (const signal of [7, {}, null, "x", { aborted: false }, new EventTarget()])
    await rejectsWith(h.files.write(NAME, "x", { signal }), "FS_INVALID_OPTION");
  await assertUntouched(h);
});
