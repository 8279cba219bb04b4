// Sessions: any id has a folder of its own, each getOrCreate its own handle, and deleting one reaches nothing else.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localHost } from "@little-stack/files";
import { assertError, rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { isRoot, sha256, snapshot } from "./support/tree.mjs";

const hashed = (id) => `s_${sha256(id)}`;
const PLAIN = ["a", "0", "user-1", "a.b_c-d", "x".repeat(64), "-rf", ".hidden", "..a", "s", "sx_1", "_"];
const HASHED = [
  ".",
  "..",
  "...",
  "../x",
  "../../etc/cron.d/x",
  "a/b",
  "/abs",
  "/",
  "a/../b",
  "CON",
  "con",
  "nul",
  "com1",
  "lpt9.txt",
  "aux",
  "A",
  "User-1",
  "x.",
  "x ",
  " ",
  "x".repeat(65),
  "x".repeat(1024),
  "é",
  "e\u0301",
  "報告",
  "📊",
  "\u202e",
  "a\0b",
  "a\nb",
  "\u001b[2J",
  "C:\\x",
  "\\\\srv\\x",
  "s_",
  "s_1",
  "__proto__".toUpperCase(),
  "harness.db/",
  "%2e%2e",
  "~",
  "$HOME",
  "*",
  "session\u0000",
  hashed("a"),
  hashed("A"),
  hashed(".."),
];
const NAMES = ["constructor", "__proto__", "tostring", "session", "staging", "trash", "harness.db", "sessions"];

test("the key of an id on the disk", async (t) => {
  const h = await withHost(t);
  const expected = new Set(["test"]);
  for (const [ids, keyOf] of [
    [[...PLAIN, ...NAMES], (id) => id],
    [HASHED, hashed],
  ]) {
    for (const id of ids) {
      const session = await h.session(id);
      assert.equal(session.id, id);
      expected.add(keyOf(id));
      assert.ok(
        fs.existsSync(path.join(h.dataDir, "sessions", keyOf(id), "session.json")),
        `${JSON.stringify(id)} lies in ${keyOf(id)}`,
      );
      assert.equal(
        JSON.parse(fs.readFileSync(path.join(h.dataDir, "sessions", keyOf(id), "session.json"), "utf8")).id,
        id,
      );
    }
  }
  assert.deepEqual(fs.readdirSync(path.join(h.dataDir, "sessions")).sort(), [...expected].sort());
  assert.deepEqual(fs.readdirSync(h.base).sort(), ["data", "outside"]);
  assert.deepEqual(
    (await h.sessions.list({ limit: 1000 })).map((each) => each.id).sort(),
    ["test", ...PLAIN, ...NAMES, ...HASHED].sort(),
  );
});

test("ids that are none", async (t) => {
  const h = await withHost(t);
  for (const id of [
    "",
    "x".repeat(1025),
    "é".repeat(513),
    "\ud800",
    "a\udfffb",
    undefined,
    null,
    7,
    {},
    [],
    Symbol("id"),
  ]) {
    await rejectsWith(h.sessions.getOrCreate({ id }), "FS_INVALID_OPTION");
    await rejectsWith(h.sessions.get(id), "FS_INVALID_OPTION");
    await rejectsWith(h.sessions.delete(id), "FS_INVALID_OPTION");
  }
  for (const options of [undefined, null, 7, "id"])
    await rejectsWith(h.sessions.getOrCreate(options), "FS_INVALID_OPTION");
  assert.deepEqual(
    (await h.sessions.list()).map((each) => each.id),
    ["test"],
  );
});

test("sessions are apart: the same path, other content", async (t) => {
  const h = await withHost(t);
  const twins = ["user", "User", "USER", "é", "e\u0301", "a", hashed("a"), hashed(hashed("a")), "..", "."];
  for (const id of twins) await (await h.session(id)).files.write("/session/a.txt", `of ${id}`);
  for (const id of twins)
    assert.equal((await (await h.sessions.get(id)).files.read("/session/a.txt")).text(), `of ${id}`);
});

test("deleting one session reaches nothing else, whatever its id", async (t) => {
  const h = await withHost(t);
  await h.files.write("/session/keep.txt", "kept");
  fs.writeFileSync(path.join(h.outside, "keep.txt"), "kept");
  fs.writeFileSync(path.join(h.base, "x"), "kept");
  const keptFiles = (root) =>
    Object.entries(snapshot(root)).filter(([name, each]) => each.kind === "file" && !/harness\.db|\.ndjson/.test(name));
  const before = keptFiles(h.base);
  for (const id of [...PLAIN, ...NAMES, ...HASHED]) {
    const session = await h.session(id);
    await session.files.write("/session/deep/er/a.txt", "x");
    fs.symlinkSync(h.outside, path.join(session.hostPaths().session, "link"));
    const home = path.dirname(session.hostPaths().session);
    await h.sessions.delete(id);
    assert.ok(!fs.existsSync(home), `the folder of ${JSON.stringify(id)} is gone`);
    assert.equal(await h.sessions.get(id), undefined);
    assert.deepEqual(keptFiles(h.base), before, `after deleting ${JSON.stringify(id)}`);
  }
  for (const never of ["never-made", "..", "../../x", "."])
    await h.sessions.delete(never).catch((error) => assertError(error, "FS_NOT_FOUND"));
  assert.deepEqual(keptFiles(h.base), before);
  assert.deepEqual(
    (await h.sessions.list()).map((each) => each.id),
    ["test"],
  );
});

test("a handle on a deleted session is closed, also when the id lives again", async (t) => {
  const h = await withHost(t);
  const stale = [await h.session("a"), await h.session("a")];
  await stale[0].files.write("/session/a.txt", "old");
  await h.sessions.delete("a");
  const again = async (session) => {
    for (const call of [
      () => session.files.write("/session/a.txt", "x"),
      () => session.files.writeText("/session/a.txt", "x"),
      () => session.files.writeJSON("/session/a.txt", 1),
      () => session.files.read("/session/a.txt"),
      () => session.files.readStream("/session/a.txt"),
      () => session.files.stat("/session/a.txt"),
      () => session.files.list("/session"),
      () => session.files.remove("/session/a.txt"),
      () => session.artifacts.list(),
    ])
      await rejectsWith(call(), "FS_CLOSED");
  };
  for (const session of stale) await again(session);
  const fresh = await h.session("a");
  assert.deepEqual(await fresh.files.list("/session"), []);
  await fresh.files.write("/session/a.txt", "new");
  for (const session of stale) await again(session);
  assert.equal((await fresh.files.read("/session/a.txt")).text(), "new");
  for (const session of stale) await session.close();
  assert.equal(
    (await fresh.files.read("/session/a.txt")).text(),
    "new",
    "closing the stale handle left the new session alone",
  );
});

test("a session that another host deleted is closed here", async (t) => {
  const first = await withHost(t);
  const second = await withHost(t, { base: first.base, sessionId: "other" });
  await first.files.write("/session/a.txt", "x");
  await second.sessions.delete("test");
  await rejectsWith(first.files.write("/session/a.txt", "x"), "FS_CLOSED");
  await rejectsWith(first.files.read("/session/a.txt"), "FS_CLOSED");
  assert.equal(await first.sessions.get("test"), undefined);
});

test("getOrCreate, get, and metadata that comes back", async (t) => {
  const base = tempDir(t);
  const metadata = { user: "u1", nested: { list: [1, null, true, "é📊"] }, constructor: "only a name" };
  const first = await withHost(t, { base });
  assert.equal(await first.sessions.get("none"), undefined);
  assert.ok(!fs.existsSync(path.join(first.dataDir, "sessions", "none")), "get makes nothing");
  const session = await first.session("m", { metadata });
  assert.deepEqual((await session.status()).metadata, metadata);
  await first.session("m", { metadata: { other: "is not taken" } });
  const before = await session.status();
  assert.deepEqual(before.metadata, metadata, "what it was made with stays");
  assert.ok(before.createdAt instanceof Date && before.updatedAt instanceof Date);
  await first.close();
  const second = await withHost(t, { base });
  const found = await second.sessions.get("m");
  const info = (await second.sessions.list()).find((each) => each.id === "m");
  assert.deepEqual(info.metadata, metadata);
  assert.deepEqual((await found.status()).metadata, metadata);
  assert.equal(Number(info.createdAt), Number(before.createdAt));
  await second.close();
});

test("metadata that is no JSON object is refused and makes nothing", async (t) => {
  const h = await withHost(t);
  const cycle = {};
  cycle.self = cycle;
  for (const metadata of ["text", 7, [], null, cycle, { a: 1n }]) {
    await rejectsWith(h.sessions.getOrCreate({ id: "bad", metadata }), "FS_INVALID_OPTION");
  }
  assert.equal(await h.sessions.get("bad"), undefined);
});

test("status and list count what is there", async (t) => {
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "12345");
  await h.files.write("/artifacts/deep/b.txt", "123");
  const status = await h.main.status();
  assert.equal(status.id, "test");
  assert.equal(status.state, "idle");
  assert.equal(status.files, 2);
  assert.equal(status.bytes, 8);
  assert.equal(status.pendingChanges, 0);
  await h.files.write("/session/a.txt", "1");
  await h.files.remove("/artifacts/deep", { recursive: true });
  const [info] = await h.sessions.list();
  assert.equal(info.files, 1);
  assert.equal(info.bytes, 1);
  assert.ok(info.updatedAt >= info.createdAt);
  assert.deepEqual(
    Object.keys(info).filter((key) => info[key] === undefined),
    [],
  );
});

test("list: ordered by id, in pages", async (t) => {
  const h = await withHost(t);
  const ids = ["test", ...Array.from({ length: 25 }, (_, n) => `id-${n}`), "Z", "é", "..", "📊"].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  for (const id of ids) await h.session(id);
  assert.deepEqual(
    (await h.sessions.list()).map((each) => each.id),
    ids,
  );
  const paged = [];
  for (let after; ;) {
    const page = await h.sessions.list({ limit: 7, ...(after === undefined ? {} : { after }) });
    paged.push(...page.map((each) => each.id));
    if (page.length < 7) break;
    after = page.at(-1).id;
  }
  assert.deepEqual(paged, ids);
  assert.deepEqual(
    (await h.sessions.list({ after: "never made, but has a place" })).map((each) => each.id),
    ids.filter((id) => Buffer.compare(Buffer.from(id), Buffer.from("never made, but has a place")) > 0),
  );
  for (const limit of [-1, 1.5, Number.NaN, "7", Infinity])
    await rejectsWith(h.sessions.list({ limit }), "FS_INVALID_OPTION");
});

test("many handles opened and closed at once on one id", async (t) => {
  const h = await withHost(t);
  const handles = await Promise.all(Array.from({ length: 50 }, () => h.session("many")));
  await Promise.all(handles.map((handle, n) => handle.files.write(`/session/${n}.txt`, String(n))));
  await Promise.all(handles.slice(1).map((handle) => handle.close()));
  assert.equal((await handles[0].files.list("/session")).length, 50);
  await rejectsWith(handles[1].files.list("/session"), "FS_CLOSED");
});

test("a dataDir that cannot be used throws at once", (t) => {
  const base = tempDir(t);
  fs.writeFileSync(path.join(base, "file"), "in the way");
  const throwsWith = (options, codes) => {
    let error;
    assert.throws(
      () => localHost(options),
      (thrown) => {
        error = thrown;
        return true;
      },
    );
    assert.ok(codes.includes(error.code), `${JSON.stringify(options)}: ${error}`);
    assert.ok(error.message.startsWith(`[${error.code}] `));
  };
  throwsWith({ dataDir: path.join(base, "file") }, ["FS_NOT_DIRECTORY"]);
  throwsWith({ dataDir: path.join(base, "file", "below") }, ["FS_NOT_DIRECTORY"]);
  for (const dataDir of ["", 7, null, {}, "a\0b", "\ud800"]) throwsWith({ dataDir }, ["FS_INVALID_OPTION"]);
  for (const options of [
    { durability: "sometimes" },
    { quota: { fileBytes: -1 } },
    { quota: 7 },
    { redaction: { keys: [7] } },
    { onEvent: "none" },
    { trace: "no" },
    null,
    7,
  ]) {
    throwsWith(
      options === null || typeof options !== "object" ? options : { dataDir: path.join(base, "data"), ...options },
      ["FS_INVALID_OPTION"],
    );
  }
  assert.deepEqual(fs.readdirSync(base).sort(), ["file"], "nothing was made");
});

test("a parent in which nothing may be made throws at once", async (t) => {
  if (isRoot && process.platform !== "linux") return t.skip("root may write everywhere but on Linux's /proc");
  const dataDir = isRoot ? "/proc/little-files/data" : path.join(tempDir(t), "sealed", "data");
  if (!isRoot) fs.mkdirSync(path.dirname(dataDir), { mode: 0o500 });
  assert.throws(
    () => localHost({ dataDir }),
    (error) => ["FS_PERMISSION_DENIED", "FS_NOT_FOUND", "FS_IO_ERROR"].includes(error.code),
  );
});

test("what an earlier run left in trash/ goes when the host opens, what lies beside it stays", async (t) => {
  const base = tempDir(t);
  const dataDir = path.join(base, "data");
  fs.mkdirSync(path.join(dataDir, "trash", "old", "deep", "er"), { recursive: true });
  fs.writeFileSync(path.join(dataDir, "trash", "old", "deep", "er", "file"), "x");
  const outside = path.join(base, "outside");
  fs.mkdirSync(outside);
  fs.writeFileSync(path.join(outside, "keep"), "x");
  fs.symlinkSync(outside, path.join(dataDir, "trash", "old", "link"));
  const h = await withHost(t, { base });
  assert.deepEqual(fs.readdirSync(path.join(dataDir, "trash")), []);
  assert.ok(fs.existsSync(path.join(outside, "keep")));
  await h.close();
});
