// What S3 refuses, and connections that break: each has its outcome, and nothing is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  DIR,
  filesOf,
  finish,
  inTurn,
  leavePending,
  pendingOf,
  withStore,
} from "./support/persistent/session.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const lists = ({ query }) => query["list-type"] === "2";

const REFUSALS = [
  [400, "ExpiredToken", /credentials have expired/],
  [403, "RequestExpired", /clock/],
  [403, "InvalidAccessKeyId", /no valid credentials/],
  [403, "SignatureDoesNotMatch", /no valid credentials/],
  [403, "AccessDenied", /do not allow/],
  [404, "NoSuchBucket", /no such bucket/],
  [301, "PermanentRedirect", /another region/],
  [503, "SlowDown", /slow down/],
  [429, "TooManyRequestsException", /slow down/],
  [500, "InternalError", /server failed/],
  [400, "SomethingNew", /server refuses/],
];

for (const [status, code, text] of REFUSALS) {
  test(`${code}: a load and a commit fail with it, and say why`, async (t) => {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    store.write("a", "old");
    const h = await withStore(t, store);
    await inTurn(h.main);
    let heal = store.proxy.fail(1, { status, code }, { of: lists });
    const loaded = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: text });
    assert.equal(loaded.path, DIR);
    assert.ok(loaded.cause instanceof Error);
    assert.equal(loaded.cause.$metadata.httpStatusCode, status);
    heal();
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a"), "new");
    heal = store.proxy.fail(1, { status, code });
    const failed = assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
    heal();
    assert.match(failed.message, text);
    assert.ok(failed.message.includes(code) && failed.message.includes("file a"), failed.message);
    assert.equal(failed.cause.$metadata.httpStatusCode, status);
    assert.deepEqual(await pendingOf(h.main), ["updated a"]);
    assertLanded(await h.persistence.commit(), { updated: 1 });
    assertHolds(store.read(), { a: "new" });
  });
}

test("a clock that differs: the client sets itself right by the server's", async (t) => {
  const store = await newS3Store({ client: { maxAttempts: 3 } })(t);
  if (store === undefined) return;
  store.write("a", "old");
  const h = await withStore(t, store);
  const skewed = (date) => ({ status: 403, code: "RequestTimeTooSkewed", headers: { date: date.toUTCString() } });
  store.proxy.fail(1, skewed(new Date(Date.now() + 3_600_000)), { of: lists });
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "new"))).persistence, { updated: 1 });
  store.proxy.fail(1, skewed(new Date(0)), { of: lists, times: 10 });
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /clock/ });
});

test("a bucket that is gone is a failure, not an empty dir", async (t) => {
  const store = await newS3Store({ options: { bucket: "no-such-bucket" } })(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /no such bucket/ });
});

test("SlowDown that passes is not seen", async (t) => {
  const store = await newS3Store({ client: { maxAttempts: 3 } })(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  const slow = { status: 503, code: "SlowDown" };
  store.proxy.fail(1, slow, { of: lists });
  store.proxy.fail(1, slow, { times: 2 });
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "new"))).persistence, { created: 1 });
  assertHolds(store.read(), { a: "new" });
});

test("409: something else is done to the object at this moment; the commit is tried again", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  store.write("b", "old");
  const h = await withStore(t, store);
  store.proxy.fail(1, { status: 409, code: "ConditionalRequestConflict" }, { times: 2 });
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("a"), "new");
    await files.remove(at("b"));
  });
  assertLanded(finished.persistence, { created: 1, deleted: 1 });
  store.proxy.fail(1, { status: 409, code: "ConditionalRequestConflict" }, { times: 100 });
  assertFailed((await inTurn(h.main, (files) => files.write(at("c"), "new"))).persistence, "FS_CONFLICT");
  assert.deepEqual(await pendingOf(h.main), ["created c"]);
});

test("an answer that is lost and tried again meets our own change: it has landed", async (t) => {
  const store = await newS3Store({ client: { maxAttempts: 3 }, options: { concurrency: 1 } })(t);
  if (store === undefined) return;
  for (const name of ["updated", "deleted"]) store.write(name, "old");
  const h = await withStore(t, store);
  for (const k of [1, 3, 5]) store.proxy.fail(k, "after"); // each change's first try
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("created"), "new");
    await files.write(at("updated"), "new");
    await files.remove(at("deleted"));
  });
  assertLanded(finished.persistence, { created: 1, updated: 1, deleted: 1 });
  assert.equal(store.commitCalls.length, 6);
  assertHolds(store.read(), { created: "new", updated: "new" });
  assertLanded((await inTurn(h.main)).persistence, {});
});

test("a deletion that is refused since the object is gone has landed", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  store.write("a", "old");
  const h = await withStore(t, store);
  await inTurn(h.main);
  // moto answers 404; others say that the condition does not hold.
  store.proxy.fail(1, () => {
    store.remove("a");
    return { status: 412, code: "PreconditionFailed" };
  });
  assertLanded((await inTurn(h.main, (files) => files.remove(at("a")))).persistence, { deleted: 1 });
  assertHolds(store.read(), {});
});

test("an answer that is lost and tried again meets another one's change: a conflict", async (t) => {
  const store = await newS3Store({ client: { maxAttempts: 3 } })(t);
  if (store === undefined) return;
  store.write("a", "base");
  const h = await withStore(t, store);
  store.proxy.fail(1, "after");
  store.proxy.fail(2, () => store.write("a", "theirs"));
  assertFailed((await inTurn(h.main, (files) => files.write(at("a"), "ours"))).persistence, "FS_CONFLICT");
  assertHolds(store.read(), { a: "theirs" });
  assert.deepEqual(await conflictsOf(h.main, ["base", "ours", "theirs"]), { a: "base|ours|theirs" });
});

for (const how of ["before", "after", "midway"]) {
  test(`a load whose k-th connection is cut ${how} its answer, for every k: the old checkout stays, the next goes well`, async (t) => {
    const store = await newS3Store({ options: { concurrency: 2 } })(t);
    if (store === undefined) return;
    const wanted = new Map(Array.from({ length: 6 }, (_, n) => [`${n % 2}/${n}`, `old ${n}`]));
    store.outside.fill(store.prefix(), wanted);
    store.write("large", Buffer.alloc(3 << 20, "old"));
    const h = await withStore(t, store);
    await inTurn(h.main);
    const old = filesOf(h.checkout);
    for (const name of wanted.keys()) wanted.set(name, `new ${name}`);
    store.outside.fill(store.prefix(), wanted);
    wanted.set("large", Buffer.alloc(3 << 20, "new"));
    store.write("large", wanted.get("large"));
    let failed = 0;
    for (let k = 1; ; k++) {
      const before = store.calls.length;
      const heal = store.proxy.fail(k, how, { of: () => true });
      const turn = await h.main.beginTurn().catch((error) => {
        assert.equal(error.code, "FS_LOAD_FAILED", error.stack);
        failed++;
      });
      heal();
      await turn?.abort();
      if (turn === undefined) assertHolds(filesOf(h.checkout), old);
      if (store.calls.length - before < k || turn !== undefined) {
        // A small content that broke off midway is fetched again in the same load.
        if (how !== "midway" || k > 8) break;
      }
    }
    assert.ok(failed >= (how === "midway" ? 1 : 8), `${failed} loads failed`);
    await inTurn(h.main);
    assertHolds(filesOf(h.checkout), wanted);
  });
}

for (const how of ["before", "after"]) {
  test(`a commit whose k-th connection is cut ${how} its answer, for every k: what is left lands later`, async (t) => {
    const store = await newS3Store({ options: { concurrency: 2 } })(t);
    if (store === undefined) return;
    const names = Array.from({ length: 5 }, (_, n) => `${n % 2}/${n}`);
    const h = await withStore(t, store);
    await inTurn(h.main);
    let round = 0;
    for (let k = 1, failed = true; failed; k++) {
      const text = `round ${++round}`;
      await leavePending(h.main, async (files) => {
        for (const name of names) await files.write(at(name), text);
        await files.write(at(`made/${round}`), text);
        if (round > 1) await files.remove(at(`made/${round - 1}`));
      });
      const heal = store.proxy.fail(k, how, { of: () => true }); // its listing as well
      const status = await h.persistence.commit();
      heal();
      failed = status.status === "failed";
      if (failed) assertFailed(status, "FS_COMMIT_FAILED");
      if (failed) assertLanded(await h.persistence.commit());
      const wanted = new Map(names.map((name) => [name, text])).set(`made/${round}`, text);
      assertHolds(store.read(), wanted, `k = ${k}`);
      assert.deepEqual(await pendingOf(h.main), []);
      assert.deepEqual(await h.persistence.conflicts(), []);
    }
    assert.ok(round >= 8, `${round} rounds`);
  });
}

test("a signal ends a load and a commit that no answer comes to", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  store.write("a", "old");
  const h = await withStore(t, store);
  await inTurn(h.main);
  const never = () => new Promise(() => {});
  let heal = store.proxy.fail(1, never, { of: lists });
  await rejectsWith(h.main.beginTurn({ signal: AbortSignal.timeout(200) }), "FS_ABORTED");
  heal();
  await leavePending(h.main, (files) => files.write(at("a"), "new"));
  heal = store.proxy.fail(1, never);
  assertFailed(await h.persistence.commit({ signal: AbortSignal.timeout(500) }), "FS_ABORTED");
  heal();
  assert.deepEqual(await pendingOf(h.main), ["updated a"]);
  assertLanded(await h.persistence.commit(), { updated: 1 });
});
