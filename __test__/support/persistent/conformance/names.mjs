// A name is only a name, whatever it means to JavaScript, to a URL or to a file system.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { assertHolds, assertLanded, at, filesOf, inTurn, leavePending } from "../session.mjs";

const NFC = "caf\u00e9";
const NFD = "cafe\u0301";

const NAMES = [
  "constructor",
  "__proto__",
  "prototype",
  "files",
  "cursor",
  "toString",
  "hasOwnProperty",
  "then",
  "length",
  "0",
  "__proto__x/__proto__",
  "a/b",
  "a-b",
  "a.b",
  "a b",
  "ab",
  " leading and trailing ",
  "..name",
  "...",
  ".hidden",
  "%2e%2e",
  "100%25",
  "%",
  "a?b=c&d#e",
  "q'uo\"te",
  "<a|b>:*.txt",
  "$(echo)",
  "-rf",
  "~",
  "ünï/日本語.txt",
  "🧠.md",
  "\u202eright-to-left",
  "x".repeat(200),
  `${"y".repeat(200)}/${"z".repeat(200)}`,
  Array.from({ length: 60 }, (_, n) => `d${n}`).join("/"),
  "harness.db",
  "sessions/session.json",
];
const contentOf = (name) => `content of ${name}`;
const map = (names, of = contentOf) => new Map(names.map((name) => [name, of(name)]));

export function cases(it) {
  it("names come in from the store as they are", async (t, h, store) => {
    for (const name of NAMES) store.write(name, contentOf(name));
    store.write("empty", "");
    const wanted = map(NAMES).set("empty", "");
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(filesOf(h.checkout), wanted);
    for (const name of NAMES) assert.equal((await h.files.read(at(name))).text(), contentOf(name), name);
    assertHolds(store.read(), wanted);
  });

  it("names go out to the store as they are: created, changed, deleted", { timeout: 120_000 }, async (t, h, store) => {
    const created = await inTurn(h.main, async (files) => {
      for (const name of NAMES) await files.write(at(name), contentOf(name));
      await files.write(at("empty"), "");
    });
    assertLanded(created.persistence, { created: NAMES.length + 1 });
    assertHolds(store.read(), map(NAMES).set("empty", ""));
    const updated = await inTurn(h.main, async (files) => {
      for (const name of NAMES) await files.write(at(name), `new ${name}`);
      await files.write(at("empty"), "no more");
    });
    assertLanded(updated.persistence, { updated: NAMES.length + 1 });
    assertHolds(store.read(), map(NAMES, (name) => `new ${name}`).set("empty", "no more"));
    const emptied = await inTurn(h.main, (files) => files.write(at("empty"), ""));
    assertLanded(emptied.persistence, { updated: 1 });
    assert.equal(store.read().get("empty").length, 0);
    const deleted = await inTurn(h.main, async (files) => {
      for (const name of NAMES) await files.remove(at(name));
    });
    assertLanded(deleted.persistence, { deleted: NAMES.length });
    assertHolds(store.read(), { empty: "" });
  });

  it("names in pending, discard and conflicts", async (t, h, store) => {
    await leavePending(h.main, async (files) => {
      for (const name of NAMES) await files.write(at(name), contentOf(name));
    });
    const pending = (await h.persistence.pending()).map(({ path: name }) => name);
    assert.deepEqual([...pending].sort(), NAMES.map(at).sort());
    for (const name of ["__proto__", "constructor", "files"]) store.write(name, "theirs");
    await (await h.main.beginTurn()).abort();
    const conflicts = await h.persistence.conflicts();
    assert.deepEqual(conflicts.map(({ path: name }) => name).sort(), ["__proto__", "constructor", "files"].map(at));
    for (const conflict of conflicts) assert.equal((await conflict.readTheirs()).text(), "theirs");
    await h.persistence.resolve(at("__proto__"), "theirs");
    await h.persistence.resolve(at("constructor"), "ours");
    await h.persistence.discard({ paths: [at("files"), at("toString")] });
    assertLanded(await h.persistence.commit());
    const wanted = map(NAMES).set("__proto__", "theirs").set("files", "theirs");
    wanted.delete("toString");
    assertHolds(store.read(), wanted);
  });

  it("a host's write outside of a turn lands at once, however its name is spelled", async (t, h, store) => {
    assert.equal((await h.files.write(at(`${NFD}-new`), "new")).path, at(`${NFC}-new`)); // names that we make are in NFC
    assertHolds(store.read(), { [`${NFC}-new`]: "new" });
    await h.files.write(at(`${NFD}-new`), "newer");
    assertHolds(store.read(), { [`${NFC}-new`]: "newer" });
    await h.files.remove(at(`${NFD}-new`));
    assertHolds(store.read(), {});
  });

  it("twins in NFC and NFD are two files", async (t, h, store) => {
    if (!twinsFit(h.checkout)) return t.skip("this file system makes one name of both");
    for (const name of [NFC, NFD, `${NFC}-dir/x`, `${NFD}-dir/${NFD}`]) store.write(name, `old ${name}`);
    await inTurn(h.main);
    assertHolds(filesOf(h.checkout), store.read());
    assert.deepEqual(
      [(await h.files.read(at(NFC))).text(), (await h.files.read(at(NFD))).text()],
      [`old ${NFC}`, `old ${NFD}`],
    );
    const finished = await inTurn(h.main, async (files) => {
      await files.write(at(NFD), "new NFD");
      await files.remove(at(`${NFD}-dir/${NFD}`));
      fs.writeFileSync(path.join(h.checkout, `${NFD}-made`), "by a shell");
      fs.writeFileSync(path.join(h.checkout, `${NFC}-made`), "by a shell too");
    });
    assertLanded(finished.persistence, { created: 2, updated: 1, deleted: 1 });
    const held = store.read();
    assert.equal(held.get(NFC).toString(), `old ${NFC}`);
    assert.equal(held.get(NFD).toString(), "new NFD");
    assert.equal(held.get(`${NFD}-made`).toString(), "by a shell");
    assert.equal(held.get(`${NFC}-made`).toString(), "by a shell too");
    assert.equal(held.has(`${NFD}-dir/${NFD}`), false);
    assertHolds(filesOf(h.checkout), held);
  });
}

function twinsFit(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const twins = [NFC, NFD].map((name) => path.join(folder, `.probe-${name}`));
  for (const twin of twins) fs.writeFileSync(twin, "");
  const found = fs.readdirSync(folder).filter((name) => name.startsWith(".probe-"));
  for (const twin of twins) fs.rmSync(twin, { force: true });
  return found.length === 2;
}
