// Keys of all kinds, and many of them: what is listed, fetched and counted. LF_MANY_OBJECTS: 1,050 by default; 10,000 and more
// before a release.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHolds, assertLanded, at, filesOf, inTurn, pendingOf, withStore } from "./support/persistent/session.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const MANY = Number(process.env.LF_MANY_OBJECTS ?? 1050);
const PAGES = Math.ceil(MANY / 1000);
const timeout = 60_000 + 100 * MANY;
const lists = ({ query }) => query["list-type"] === "2";
const gets = ({ method, query }) => method === "GET" && !lists({ query });
const loadedOf = (events) => events.findLast(({ type }) => type === "harness.persistent_dir.loaded").metadata;

test(
  `${MANY} objects go out, come in page by page, and cost a turn nothing but their listing`,
  { timeout },
  async (t) => {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    const wanted = new Map(Array.from({ length: MANY }, (_, n) => [`${n % 7}/${n}.txt`, `content ${n}`]));
    const first = await withStore(t, store);
    const sent = await inTurn(first.main, async (files) => {
      for (const [name, text] of wanted) await files.write(at(name), text);
    });
    assertLanded(sent.persistence, { created: MANY });
    assert.equal(store.commitCalls.length, MANY);
    await first.close();

    const h = await withStore(t, store);
    const start = store.calls.length;
    await inTurn(h.main);
    assertHolds(filesOf(h.checkout), wanted);
    assert.equal(store.calls.slice(start).filter(lists).length, PAGES);
    assert.equal(store.calls.slice(start).filter(gets).length, MANY);

    const before = store.calls.length;
    assertLanded((await inTurn(h.main)).persistence, {});
    assert.equal(store.calls.length - before, PAGES);
    assert.ok(store.calls.slice(before).every(lists));

    store.write("3/3.txt", "changed");
    store.remove("4/4.txt");
    store.write("new.txt", "new");
    const again = store.calls.length;
    await inTurn(h.main);
    const fetched = store.calls.slice(again).filter(gets);
    assert.deepEqual(fetched.map(({ path }) => path).sort(), ["3/3.txt", "new.txt"]);
    wanted.set("3/3.txt", "changed").set("new.txt", "new").delete("4/4.txt");
    assertHolds(filesOf(h.checkout), wanted);
  },
);

test("many requests at once warn of nothing", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const warnings = [];
  const warned = ({ message }) => void (message.startsWith("NodeVersionSupport") || warnings.push(message)); // the SDK says that
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const h = await withStore(t, store);
  const { signal } = new AbortController();
  const change = async (files) => {
    for (let n = 0; n < 40; n++) await files.write(at(`${n}`), `${n}`);
  };
  assertLanded((await inTurn(h.main, change, { signal })).persistence, { created: 40 });
  const other = await withStore(t, store);
  await inTurn(other.main, undefined, { signal });
  assert.deepEqual(warnings, []);
});

test("what a commit sent is not fetched back", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "one"))).persistence, { created: 1 });
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "two"))).persistence, { updated: 1 });
  assertLanded((await inTurn(h.main)).persistence, {});
  assert.deepEqual(store.calls.filter(gets), []);
});

test("names that mean something to URLs, XML and JavaScript", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const long = Array.from({ length: 9 }, (_, n) => String(n).repeat(94)).join("/");
  const names = [
    "a b",
    " a ",
    "a+b",
    "a%20b",
    "a%2Fb",
    "100%",
    "#hash",
    "question?x=1&y=2",
    "a;b=c,d@e:f$g!h'i(j)*",
    "<xml>&amp;\"'",
    "&lt;",
    "日本語/ünï 🧠",
    "cafe\u0301",
    "caf\u00e9",
    "__proto__",
    "constructor/__proto__",
    "uploads",
    "versionId=1",
    "~tilde",
    "...",
    "..x/y..",
    long,
  ];
  const wanted = new Map(names.map((name) => [name, `theirs ${name}`]));
  for (const [name, text] of wanted) store.write(name, text);
  const h = await withStore(t, store);
  assertLanded((await inTurn(h.main)).persistence, {});
  assertHolds(filesOf(h.checkout), wanted);
  const made = names.map((name) => `new ${name}`).filter((name) => name === name.normalize()); // a new name is made in NFC
  const finished = await inTurn(h.main, async (files) => {
    for (const name of names) await files.write(at(name), `ours ${name}`);
    for (const name of made) await files.write(at(name), name);
  });
  assertLanded(finished.persistence, { updated: names.length, created: made.length });
  for (const name of names) wanted.set(name, `ours ${name}`);
  for (const name of made) wanted.set(name, name);
  assertHolds(store.read(), wanted);
  const emptied = await inTurn(h.main, async (files) => {
    for (const name of wanted.keys()) await files.remove(at(name));
  });
  assertLanded(emptied.persistence, { deleted: wanted.size });
  assertHolds(store.read(), {});
});

test("a path that is too long for a key is told, and stays pending", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  const name = Array.from({ length: 12 }, () => "x".repeat(100)).join("/");
  store.proxy.fail(1, { status: 400, code: "KeyTooLongError" }); // as S3 does; moto takes it
  const { persistence } = await inTurn(h.main, (files) => files.write(at(name), "far down"));
  const [{ error }] = persistence.failedCommits;
  assert.equal(error.code, "FS_COMMIT_FAILED");
  assert.match(error.message, /too long for a key/);
  assert.deepEqual(await pendingOf(h.main), [`created ${name}`]);
});

test("keys that no path can be are left alone, and counted", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const unnamable = [
    "",
    "folder/",
    "deep/folder/",
    "a//b",
    "/leading",
    "x/../y",
    "./z",
    "tab\there",
    "\u0001",
    "back\\slash",
  ];
  for (const name of unnamable) store.write(name, "left alone");
  store.write("folder/file.txt", "a file");
  store.write("plain.txt", "plain");
  const h = await withStore(t, store);
  assertLanded((await inTurn(h.main)).persistence, {});
  assertHolds(filesOf(h.checkout), { "folder/file.txt": "a file", "plain.txt": "plain" });
  assert.equal(loadedOf(h.events).skipped, unnamable.length);
  const finished = await inTurn(h.main, (files) => files.remove(at("folder"), { recursive: true }));
  assertLanded(finished.persistence, { deleted: 1 });
  for (const name of unnamable) assert.equal(store.outside.head(store.key(name)).bytes, 10, JSON.stringify(name));
});

test("an object that is a file and has others below it: they are left alone, and counted", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const above = { a: "a file", "a-b": "beside", "a.txt": "beside", "b/c": "a file" };
  for (const [name, text] of Object.entries(above)) store.write(name, text);
  for (const name of ["a/x", "a/y/z", "b/c/d"]) store.write(name, "below a file");
  const h = await withStore(t, store);
  assertLanded((await inTurn(h.main)).persistence, {});
  assertHolds(filesOf(h.checkout), above);
  assert.equal(loadedOf(h.events).skipped, 3);
  // Made a folder, it meets what was hidden: theirs is not overwritten.
  const finished = await inTurn(h.main, async (files) => {
    await files.remove(at("a"));
    await files.write(at("a/x"), "ours");
  });
  assert.equal(finished.persistence.failedCommits[0].error.code, "FS_CONFLICT");
  assert.equal(store.read().get("a/x").toString(), "below a file");
});

test("prefixes of others that begin alike are not touched", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  store.write("mine", "of shared");
  store.outside.write(`${store.prefix().slice(0, -1)}-too/theirs`, "of another");
  const h = await withStore(t, store);
  await inTurn(h.main, (files) => files.remove(at("mine")));
  assertHolds(filesOf(h.checkout), {});
  assertHolds(store.outside.read(`${store.prefix().slice(0, -1)}-too/`), { theirs: "of another" });
});
