// Other programs on the same bucket: they read what we wrote, and what they change is seen, or a conflict.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  filesOf,
  finish,
  inTurn,
  withStore,
} from "./support/persistent/session.mjs";
import { newS3Store } from "./support/s3/store.mjs";
import { sha256 } from "./support/tree.mjs";

test("what we write are plain objects, with their sha256 and media type", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await inTurn(h.main, async (files) => {
    await files.write(at("notes/a.md"), "# a", { mediaType: "text/markdown" });
    await files.write(at("empty"), "");
  });
  const { etag, ...about } = store.outside.head(store.key("notes/a.md"));
  assert.match(etag, /^"[0-9a-f]{32}"$/);
  assert.deepEqual(about, { bytes: 3, metadata: { sha256: sha256("# a") }, contentType: "text/markdown" });
  assert.deepEqual(store.outside.head(store.key("empty")).metadata, { sha256: sha256("") });
  assertHolds(store.read(), { "notes/a.md": "# a", empty: "" });
});

test("a media type that no request can carry keeps no content from going", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("small"), "small", { mediaType: "日本/語" });
    await files.write(at("latin"), "latin", { mediaType: "text/plain; title=été" });
    await files.write(at("large"), Buffer.alloc(9 << 20), { mediaType: "video/🎬" });
    await files.write(at("plain"), "plain", { mediaType: "text/plain; title=summer" });
  });
  assertLanded(finished.persistence, { created: 4 });
  const typeOf = (name) => store.outside.head(store.key(name)).contentType;
  for (const name of ["small", "latin", "large"]) assert.match(typeOf(name), /^[\u0020-\u007e]*$/, name);
  assert.equal(typeOf("plain"), "text/plain; title=summer");
});

test("what another client changes is there at the next turn", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await inTurn(h.main, async (files) => {
    for (const name of ["changed", "removed", "kept"]) await files.write(at(name), "ours");
  });
  store.write("changed", "theirs");
  store.remove("removed");
  store.write("made", "theirs");
  await inTurn(h.main);
  assertHolds(filesOf(h.checkout), { changed: "theirs", kept: "ours", made: "theirs" });
});

test("where both changed, each side's version is kept: before the load of a commit, and after it", async (t) => {
  for (const moment of ["before the load", "after the load"]) {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    for (const name of ["updated", "deleted"]) store.write(name, "base");
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    await turn.files.write(at("updated"), "ours");
    await turn.files.write(at("created"), "ours");
    await turn.files.remove(at("deleted"));
    const theirs = () => {
      for (const name of ["updated", "created", "deleted"]) store.write(name, "theirs");
    };
    if (moment === "before the load") theirs();
    else store.proxy.fail(1, theirs); // between comparing and the first change, which the conditions have to notice
    assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
    assertHolds(store.read(), { updated: "theirs", created: "theirs", deleted: "theirs" }, moment);
    assert.deepEqual(await conflictsOf(h.main, ["base", "ours", "theirs"]), {
      updated: "base|ours|theirs",
      created: "-|ours|theirs",
      deleted: "base|-|theirs",
    });
  }
});

test("the same change by another client in that moment is no conflict", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  for (const name of ["updated", "deleted"]) store.write(name, "base");
  const h = await withStore(t, store);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("updated"), "same");
  await turn.files.write(at("created"), "same");
  await turn.files.remove(at("deleted"));
  store.proxy.fail(1, () => {
    const more = { Metadata: { sha256: sha256("same") } };
    for (const name of ["updated", "created"]) store.outside.write(store.key(name), "same", more);
    store.remove("deleted");
  });
  assertLanded((await finish(turn)).persistence, { created: 1, updated: 1, deleted: 1 });
  assertHolds(store.read(), { updated: "same", created: "same" });
});

test("an object that goes between listing and fetching is gone, not a failure", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  for (const name of ["a", "b"]) store.write(name, name);
  const h = await withStore(t, store);
  store.proxy.fail(1, () => store.remove("b"), { of: ({ method, key }) => method === "GET" && key !== "" });
  await inTurn(h.main);
  const held = filesOf(h.checkout);
  assert.equal(held.get("a").toString(), "a");
  await inTurn(h.main);
  assertHolds(filesOf(h.checkout), { a: "a" });
});

test("an object that changes between listing and fetching has the version of what came", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  store.write("a", "old");
  const h = await withStore(t, store);
  store.proxy.fail(1, () => store.write("a", "new"), { of: ({ method, key }) => method === "GET" && key !== "" });
  const finished = await inTurn(h.main, (files) => files.write(at("a"), "ours, on new"));
  assertLanded(finished.persistence, { updated: 1 });
  assertHolds(store.read(), { a: "ours, on new" });
});
