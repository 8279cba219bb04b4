// Large files, which go out in parts. LF_LARGE_BYTES: 40 MiB by default; 2 GiB and more before a release.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  finish,
  inTurn,
  pendingOf,
  withStore,
} from "./support/persistent/session.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const LARGE = Number(process.env.LF_LARGE_BYTES ?? 40 << 20);
const PART = 8 << 20;
const TIMEOUT = 60_000 + LARGE / 2000;
const isPart = ({ query }) => query.partNumber !== undefined;
const isEnd = ({ method, query }) => method === "POST" && query.uploadId !== undefined;

/** The same bytes each time, never all of them in memory. */
async function* content(bytes, salt = "") {
  const block = Buffer.alloc(1 << 20);
  for (let done = 0; done < bytes; done += block.length) {
    block.fill(`${salt}${done};`);
    yield Uint8Array.prototype.slice.call(block, 0, Math.min(block.length, bytes - done));
  }
}

async function hashOf(chunks) {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

/** The most memory outside the heap while `work` runs, above what there was. */
async function memoryOf(work) {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  await work();
  clearInterval(timer);
  return (most - before) / 2 ** 20;
}

test(`${LARGE / 2 ** 20} MiB out and in, in constant memory`, { timeout: TIMEOUT }, async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await inTurn(h.main);
  const sha256 = await hashOf(content(LARGE));
  const out = await memoryOf(async () => {
    const finished = await inTurn(h.main, (files) => files.write(at("large.bin"), content(LARGE)));
    assertLanded(finished.persistence, { created: 1 });
  });
  const { etag, bytes, metadata } = store.outside.head(store.key("large.bin"));
  assert.deepEqual([bytes, metadata], [LARGE, { sha256 }]);
  assert.match(etag, new RegExp(`-${Math.ceil(LARGE / PART)}"$`));
  assert.equal(store.calls.filter(isPart).length, Math.ceil(LARGE / PART));
  assertLanded((await inTurn(h.main)).persistence, {});
  await h.close();

  const other = await withStore(t, store);
  const into = await memoryOf(() => inTurn(other.main));
  assert.equal(await hashOf(await other.files.readStream(at("large.bin"))), sha256);
  t.diagnostic(`memory: out ${out.toFixed()} MiB, in ${into.toFixed()} MiB`);
  // The proxy and the SDK's copies are in this process as well. The parts under way take at most 64 MiB.
  assert.ok(out < 260 && into < 160, `memory: out ${out.toFixed()} MiB, in ${into.toFixed()} MiB`);
});

test("a part that fails: the upload is aborted, nothing appears, and the next commit goes well", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  for (const [of, how] of [
    [isPart, "before"],
    [isPart, "after"],
    [isEnd, "before"],
    [({ query }) => query.uploads !== undefined, "before"],
  ]) {
    const heal = store.proxy.fail(1, how, { of });
    const finished = await inTurn(h.main, (files) => files.write(at("large"), content(20 << 20)));
    assertFailed(finished.persistence, "FS_COMMIT_FAILED");
    heal();
    assert.deepEqual(await pendingOf(h.main), ["created large"]);
    assertHolds(store.read(), {});
    assert.deepEqual(store.outside.uploads(), []);
  }
  assertLanded(await h.persistence.commit(), { created: 1 });
  assert.equal(store.outside.head(store.key("large")).bytes, 20 << 20);
});

test("a part that fails is tried again by the client", async (t) => {
  const store = await newS3Store({ client: { maxAttempts: 3 } })(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  store.proxy.fail(2, "before", { of: isPart });
  store.proxy.fail(4, { status: 503, code: "SlowDown" }, { of: isPart });
  const finished = await inTurn(h.main, (files) => files.write(at("large"), content(20 << 20)));
  assertLanded(finished.persistence, { created: 1 });
  assert.equal(await hashOf([store.read().get("large")]), await hashOf(content(20 << 20)));
});

test("the last answer is lost: it is seen to have landed", async (t) => {
  for (const maxAttempts of [1, 3]) {
    const store = await newS3Store({ client: { maxAttempts } })(t);
    if (store === undefined) return;
    const h = await withStore(t, store);
    store.proxy.fail(1, "after", { of: isEnd });
    const finished = await inTurn(h.main, (files) => files.write(at("large"), content(20 << 20)));
    if (maxAttempts > 1) {
      assertLanded(finished.persistence, { created: 1 });
    } else {
      assertFailed(finished.persistence, "FS_COMMIT_FAILED");
      assertLanded(await h.persistence.commit());
    }
    assert.deepEqual(await pendingOf(h.main), []);
    assert.equal(store.calls.filter(isPart).length, 3, "sent once");
  }
});

test("an upload that is over: it has landed where our object is there, and failed where it is not", async (t) => {
  const over = { status: 404, code: "NoSuchUpload" };
  for (const landed of [true, false]) {
    const store = await newS3Store({ client: { maxAttempts: 3 } })(t);
    if (store === undefined) return;
    const h = await withStore(t, store);
    if (landed) store.proxy.fail(1, "after", { of: isEnd }); // the client tries again, and S3 knows no such upload any more
    const heal = store.proxy.fail(landed ? 2 : 1, over, { of: isEnd });
    const { persistence } = await inTurn(h.main, (files) => files.write(at("large"), content(9 << 20)));
    heal();
    if (landed) assertLanded(persistence, { created: 1 });
    else assert.match(assertFailed(persistence, "FS_COMMIT_FAILED").message, /aborted by somebody else/);
    assert.deepEqual(await pendingOf(h.main), landed ? [] : ["created large"]);
  }
});

test("another one's change while the parts go out is a conflict", async (t) => {
  for (const base of [undefined, "base"]) {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    if (base !== undefined) store.write("large", base);
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    await turn.files.write(at("large"), content(20 << 20));
    store.proxy.fail(2, () => store.write("large", "theirs"), { of: isPart });
    assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
    assertHolds(store.read(), { large: "theirs" });
    assert.deepEqual(Object.keys(await conflictsOf(h.main)), ["large"]);
    assert.deepEqual(store.outside.uploads(), []);
    await h.persistence.resolve(at("large"), "ours");
    assertLanded(await h.persistence.commit(), { updated: 1 });
    assert.equal(await hashOf([store.read().get("large")]), await hashOf(content(20 << 20)));
  }
});

test("many large files at once stay within the same memory", { timeout: 120_000 }, async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await inTurn(h.main);
  const used = await memoryOf(async () => {
    const finished = await inTurn(h.main, async (files) => {
      for (let n = 0; n < 12; n++) await files.write(at(`${n}.bin`), content((n % 2 === 0 ? 7 : 17) << 20, n));
    });
    assertLanded(finished.persistence, { created: 12 });
  });
  t.diagnostic(`memory: ${used.toFixed()} MiB`);
  assert.ok(used < 260, `memory: ${used.toFixed()} MiB`);
  const held = store.read();
  for (let n = 0; n < 12; n++)
    assert.equal(await hashOf([held.get(`${n}.bin`)]), await hashOf(content((n % 2 === 0 ? 7 : 17) << 20, n)));
});
