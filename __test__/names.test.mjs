// G1, G3: any legal name works, is what the ref says, and means one file; composed and decomposed forms find each other.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { onBackends } from "./support/backends.mjs";
import { rejectsWith, withHost } from "./support/host.mjs";
import { plant, sha256 } from "./support/tree.mjs";

const NFC = "Absch\u00e4tzung.pdf";
const NFD = "Abscha\u0308tzung.pdf";
const [DIR_NFC, DIR_NFD] = ["\u00fcbung", "u\u0308bung"];

onBackends("a name given decomposed is stored composed and found by both forms", async (t, h) => {
  const ref = await h.files.writeText(`/session/${NFD}`, "one");
  assert.equal(ref.path, `/session/${NFC}`);
  assert.deepEqual(fs.readdirSync(h.roots.session), [NFC]);
  for (const name of [NFC, NFD]) {
    assert.equal((await h.files.read(`/session/${name}`)).text(), "one");
    assert.equal((await h.files.read(`/session/${name}`)).path, `/session/${NFC}`);
    assert.equal((await h.files.stat(`/session/${name}`)).path, `/session/${NFC}`);
  }
  assert.equal((await h.files.writeText(`/session/${NFC}`, "two")).path, `/session/${NFC}`);
  assert.equal(
    (await h.files.writeText(`/session/${NFD}`, "three", { ifMatch: sha256("two") })).path,
    `/session/${NFC}`,
  );
  await rejectsWith(h.files.writeText(`/session/${NFD}`, "four", { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS");
  assert.deepEqual(fs.readdirSync(h.roots.session), [NFC]);
  await h.files.remove(`/session/${NFD}`);
  assert.deepEqual(fs.readdirSync(h.roots.session), []);
});

onBackends("a decomposed name that another program made keeps its form", async (t, h) => {
  plant(h.roots.session, { [NFD]: "planted" });
  assert.equal((await h.files.read(`/session/${NFD}`)).text(), "planted");
  assert.equal((await h.files.read(`/session/${NFD}`)).path, `/session/${NFD}`);
  assert.deepEqual(
    (await h.files.list("/session")).map((entry) => entry.path),
    [`/session/${NFD}`],
  );
  const ref = await h.files.writeText(`/session/${NFD}`, "written");
  assert.equal(ref.path, `/session/${NFD}`, "a write goes to what the name finds");
  assert.deepEqual(fs.readdirSync(h.roots.session), [NFD]);
  assert.equal((await h.files.stat(ref.path)).sha256, ref.sha256);
  await h.files.remove(ref.path);
  assert.deepEqual(fs.readdirSync(h.roots.session), []);
});

onBackends("both forms at once are two files, each under its own name", async (t, h) => {
  plant(h.roots.session, { [NFD]: "decomposed", [NFC]: "composed" });
  for (const [name, text] of [
    [NFD, "decomposed"],
    [NFC, "composed"],
  ]) {
    const data = await h.files.read(`/session/${name}`);
    assert.equal(data.text(), text);
    assert.equal(data.path, `/session/${name}`);
  }
  const listed = (await h.files.list("/session")).map((entry) => entry.path);
  assert.deepEqual(listed, [`/session/${NFD}`, `/session/${NFC}`], "by bytes: the plain letter first");
  assert.equal((await h.files.writeText(`/session/${NFD}`, "new d")).path, `/session/${NFD}`);
  assert.equal((await h.files.writeText(`/session/${NFC}`, "new c")).path, `/session/${NFC}`);
  assert.equal(fs.readFileSync(path.join(h.roots.session, NFD), "utf8"), "new d");
  assert.equal(fs.readFileSync(path.join(h.roots.session, NFC), "utf8"), "new c");
  await h.files.remove(`/session/${NFD}`);
  assert.deepEqual(fs.readdirSync(h.roots.session), [NFC]);
});

onBackends("each component is looked up for itself", async (t, h) => {
  plant(h.roots.session, { [`${DIR_NFD}/${NFC}`]: "in a decomposed folder" });
  assert.equal((await h.files.read(`/session/${DIR_NFD}/${NFD}`)).text(), "in a decomposed folder");
  assert.equal((await h.files.read(`/session/${DIR_NFD}/${NFD}`)).path, `/session/${DIR_NFD}/${NFC}`);
  const ref = await h.files.writeText(`/session/${DIR_NFD}/a\u0308/b\u0308.txt`, "made");
  assert.equal(ref.path, `/session/${DIR_NFD}/\u00e4/b\u0308.txt`, "only what does not exist is composed");
  assert.deepEqual(fs.readdirSync(h.roots.session), [DIR_NFD]);
  assert.equal((await h.files.writeText(`/session/${DIR_NFC}/x`, "x")).path, `/session/${DIR_NFC}/x`);
  assert.deepEqual(
    (await h.files.list(`/session/${DIR_NFD}`)).map((entry) => path.posix.basename(entry.path)),
    [NFC, "\u00e4"],
  );
});

const LEGAL = [
  "report..final.md",
  "a..b",
  "..name",
  "...",
  "....",
  "[...slug]",
  "%2e%2e",
  "%00",
  "~",
  "$HOME",
  "-rf",
  "--help",
  "*",
  "?",
  "a*b?",
  "[ab]",
  "{a,b}",
  "!x",
  "#x",
  "a;rm -rf",
  "`id`",
  "$(id)",
  "'",
  '"',
  "<>|&",
  ":",
  "f.txt:ads",
  " ",
  " lead",
  "trail ",
  "dot.",
  "CON",
  "NUL",
  "nul.txt",
  "COM1",
  "LPT9.log",
  "PROGRA~1",
  "Thumbs.db",
  ".DS_Store",
  ".hidden",
  ".git",
  ".env",
  "\u5831\u544a",
  "\ud83d\udcca",
  "\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67",
  "\u202egpj.exe",
  "\u200b",
  "\ufeffbom",
  "\ufffd",
  "\u2028",
  "\u00a0",
  "\ufb01",
  "\u00df",
  "\u0130",
  "\u0131",
  "\uff0e\uff0e",
  "\u2044",
  "\u2215etc",
  "\uff0f",
  "\u0627\u0644\u0639",
  "\u1112\u1161\u11ab".normalize("NFC"),
  "\uffff",
  "\u{10ffff}",
  "constructor",
  "__proto__",
  "prototype",
  "hasOwnProperty",
  "toString",
  "then",
  "toJSON",
  "files",
  "length",
  "0",
  "NaN",
  "null",
  "undefined",
  "harness.db",
  "harness.db-wal",
  "session.json",
  "turn.lock",
  "publish.lock",
  "trace.ndjson",
  "staging",
  "trash",
  "conflicts",
  "persistent",
  "sessions",
  ".little-harness",
  "versions",
  "metadata.json",
  ".tmp",
  "a.tmp",
  "#tmp.0",
  ".little-files-x",
  "Logo.png",
  "logo.png",
  "LOGO.PNG",
  `${"\u00e9".repeat(127)}x`,
  "n".repeat(255),
  "\ud83d\udcca".repeat(63),
];

onBackends("every legal name is one file with that very name", async (t, h) => {
  for (const name of LEGAL) {
    const ref = await h.files.writeText(`/session/names/${name}`, name);
    assert.equal(ref.path, `/session/names/${name.normalize("NFC")}`);
  }
  const expected = [...new Set(LEGAL.map((name) => name.normalize("NFC")))];
  assert.deepEqual(new Set(fs.readdirSync(path.join(h.roots.session, "names"))), new Set(expected));
  const listed = await h.files.list("/session/names");
  assert.equal(listed.length, expected.length);
  for (const entry of listed) {
    const name = entry.path.slice("/session/names/".length);
    assert.ok(expected.includes(name), JSON.stringify(name));
    assert.equal((await h.files.read(entry.path)).text().normalize("NFC"), name.replace(/^\ufeff/, ""));
    assert.equal(
      (await h.files.stat(entry.path)).bytes,
      Buffer.byteLength(LEGAL.find((each) => each.normalize("NFC") === name)),
    );
  }
  for (const name of LEGAL) await h.files.remove(`/session/names/${name}`, { force: true });
  assert.deepEqual(await h.files.list("/session/names"), []);
});

test("names of our own files are only names, as files and as folders", async (t) => {
  const h = await withHost(t);
  const own = [
    "harness.db",
    "session.json",
    "turn.lock",
    "publish.lock",
    "trace.ndjson",
    "staging/x",
    "trash/x",
    "conflicts/x",
    "persistent/x/y",
    "sessions/test/session/x",
    ".little-harness/x",
  ];
  for (const root of ["session", "artifacts"])
    for (const name of own) await h.files.writeText(`/${root}/${name}`, name);
  await h.close();
  const again = await withHost(t, { base: h.base });
  for (const root of ["session", "artifacts"]) {
    for (const name of own) assert.equal((await again.files.read(`/${root}/${name}`)).text(), name);
    await again.files.remove(`/${root}/staging`, { recursive: true });
  }
  assert.equal((await again.main.status()).id, "test");
  assert.equal((await again.files.writeText("/session/staging/y", "y")).bytes, 1);
});

test("names that differ by case, width or look are different files", async (t) => {
  const h = await withHost(t);
  const alike = [
    "Logo.png",
    "logo.png",
    "\uff2cogo.png",
    "L\u043ego.png",
    "Logo.png ",
    "Logo.png.",
    "\u212a.txt",
    "K.txt",
    "k.txt",
    "\ufb01.txt",
    "fi.txt",
    "\u00df.txt",
    "ss.txt",
    "SS.txt",
  ];
  const stored = new Map();
  for (const name of alike) stored.set((await h.files.writeText(`/session/${name}`, `this is ${name}`)).path, name);
  // U+212A (Kelvin) is composed to the letter K by NFC itself: the one pair here that means one file.
  assert.equal(stored.size, alike.length - 1);
  for (const [p, name] of stored) assert.equal((await h.files.read(p)).text(), `this is ${name}`);
});

test("names that are no property keys: entries of plain objects, whatever they are called", async (t) => {
  const h = await withHost(t);
  for (const name of ["__proto__", "constructor", "then"]) {
    const ref = await h.files.writeJSON(`/session/${name}`, { [name]: 1 }, { metadata: { ["k-" + name]: true } });
    assert.equal(Object.getPrototypeOf(ref), Object.prototype);
    assert.deepEqual(structuredClone(ref), ref);
  }
  assert.equal({}.polluted, undefined);
  const listed = await h.files.list("/session");
  assert.deepEqual(
    listed.map((entry) => entry.path),
    ["/session/__proto__", "/session/constructor", "/session/then"],
  );
});
