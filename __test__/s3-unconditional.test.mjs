// Servers that do not know conditions: `conditional: false`, and deletions on servers that only write with them.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  finish,
  inTurn,
  withStore,
} from "./support/persistent/session.mjs";
import { newS3Store } from "./support/s3/store.mjs";
import { sha256 } from "./support/tree.mjs";

const unconditional = newS3Store({ options: { conditional: false } });
const hasCondition = ({ headers }) => headers["if-match"] !== undefined || headers["if-none-match"] !== undefined;

test("nothing is sent with a condition; each object is looked at first", async (t) => {
  const store = await unconditional(t);
  if (store === undefined) return;
  for (const name of ["updated", "deleted"]) store.write(name, "old");
  const h = await withStore(t, store);
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("created"), "new");
    await files.write(at("updated"), "new");
    await files.write(at("large"), Buffer.alloc(9 << 20, "large"));
    await files.remove(at("deleted"));
  });
  assertLanded(finished.persistence, { created: 2, updated: 1, deleted: 1 });
  assert.deepEqual(store.calls.filter(hasCondition), []);
  assert.equal(store.calls.filter(({ method }) => method === "HEAD").length, 4);
  assertHolds(store.read(), { created: "new", updated: "new", large: Buffer.alloc(9 << 20, "large") });
});

test("a change that another one made before that look is a conflict", async (t) => {
  const store = await unconditional(t);
  if (store === undefined) return;
  for (const name of ["updated", "gone", "deleted"]) store.write(name, "base");
  const h = await withStore(t, store);
  const turn = await h.main.beginTurn();
  for (const name of ["updated", "gone", "created"]) await turn.files.write(at(name), "ours");
  await turn.files.remove(at("deleted"));
  const isHead = ({ method }) => method === "HEAD";
  store.proxy.fail(
    1,
    () => {
      for (const name of ["updated", "created", "deleted"]) store.write(name, "theirs");
      store.remove("gone");
    },
    { of: isHead },
  );
  assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
  assertHolds(store.read(), { updated: "theirs", created: "theirs", deleted: "theirs" });
  assert.deepEqual(await conflictsOf(h.main, ["base", "ours", "theirs"]), {
    updated: "base|ours|theirs",
    gone: "base|ours|-",
    created: "-|ours|theirs",
    deleted: "base|-|theirs",
  });
});

test("an object that tells the hash of another content, which we now write, is not taken for ours", async (t) => {
  for (const newStore of [unconditional, newS3Store()]) {
    const store = await newStore(t);
    if (store === undefined) return;
    // As a tool leaves it that changes an object and keeps its metadata.
    store.outside.write(store.key("a"), "theirs", { Metadata: { sha256: sha256("before") } });
    const h = await withStore(t, store);
    const finished = await inTurn(h.main, (files) => files.write(at("a"), "before"));
    assertLanded(finished.persistence, { updated: 1 });
    assertHolds(store.read(), { a: "before" });
  }
});

test("an answer that is lost is settled", async (t) => {
  const store = await unconditional(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  store.proxy.fail(1, "after");
  assertFailed((await inTurn(h.main, (files) => files.write(at("a"), "new"))).persistence, "FS_COMMIT_FAILED");
  assertLanded(await h.persistence.commit(), {});
  assert.equal(store.commitCalls.length, 1);
});

test("an older SDK, which leaves out conditions that it does not know: they are sent all the same", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const forget = (next) => (args) => {
    for (const name of ["if-match", "if-none-match"]) delete args.request.headers[name];
    return next(args);
  };
  store.client.middlewareStack.add(forget, { step: "serialize", priority: "low", name: "an older SDK" });
  for (const name of ["updated", "deleted"]) store.write(name, "base");
  const h = await withStore(t, store);
  const change = async (files) => {
    for (const name of ["created", "updated", "large"]) await files.write(at(name), "ours");
    await files.remove(at("deleted"));
  };
  const theirs = () => {
    for (const name of ["created", "updated", "deleted"]) store.write(name, "theirs");
  };
  store.proxy.fail(1, theirs); // after the listing
  assertFailed((await inTurn(h.main, change)).persistence, "FS_CONFLICT");
  assert.ok(store.commitCalls.every(hasCondition));
  assertHolds(new Map([...store.read()].filter(([name]) => name !== "large")), {
    created: "theirs",
    updated: "theirs",
    deleted: "theirs",
  });
});

test("without it, a server that refuses conditions is a failure that says what to do", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  store.proxy.fail(1, { status: 501, code: "NotImplemented" }, { of: hasCondition });
  const finished = await inTurn(h.main, (files) => files.write(at("a"), "new"));
  assert.match(assertFailed(finished.persistence, "FS_COMMIT_FAILED").message, /conditional: false/);
});

test("a server that deletes without conditions only: the object is looked at first", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  for (const name of ["a", "b", "c"]) store.write(name, "base");
  const h = await withStore(t, store);
  const of = (request) => request.method === "DELETE" && hasCondition(request);
  store.proxy.fail(1, { status: 501, code: "NotImplemented" }, { of, times: Infinity });
  assertLanded((await inTurn(h.main, (files) => files.remove(at("a")))).persistence, { deleted: 1 });
  assertHolds(store.read(), { b: "base", c: "base" });
  const turn = await h.main.beginTurn();
  await turn.files.remove(at("b"));
  await turn.files.remove(at("c"));
  const theirs = () => {
    store.write("b", "theirs");
    store.remove("c");
  };
  store.proxy.fail(1, theirs, { of: ({ method }) => method === "HEAD" });
  assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
  assertHolds(store.read(), { b: "theirs" });
});
