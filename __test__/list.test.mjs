// Listings: complete, in the order of the bytes of the whole path, paged without gaps, links shown and never entered.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { onBackends } from "./support/backends.mjs";
import { rejectsWith, withHost } from "./support/host.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { dir, fifo, file, link, plant, sha256 } from "./support/tree.mjs";

const paths = (entries) => entries.map((entry) => entry.path);
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const s = (...names) => names.map((name) => `/session/${name}`);

const TREE = {
  "a/c": "1",
  "a/b/d": "2",
  "a-b": "3",
  "a.txt": "4",
  "B/x.md": "5",
  "B/y/z.md": "6",
  empty: dir(),
  "note.md": "7",
  "z/z/z/z/z": "8",
  "\uff5e.txt": "9",
  "\ud83d\ude00.txt": "10",
  "\u00e4/\u00f6.md": "11",
  l: link("a"),
  "a/up": link("../B"),
  p: fifo(),
};
const ALL = [
  "a",
  "a/b",
  "a/b/d",
  "a/c",
  "a/up",
  "a-b",
  "a.txt",
  "B",
  "B/x.md",
  "B/y",
  "B/y/z.md",
  "empty",
  "note.md",
  "z",
  "z/z",
  "z/z/z",
  "z/z/z/z",
  "z/z/z/z/z",
  "\uff5e.txt",
  "\ud83d\ude00.txt",
  "\u00e4",
  "\u00e4/\u00f6.md",
  "l",
  "p",
]
  .map((name) => `/session/${name}`)
  .sort(byBytes);

onBackends("direct children and the whole tree, by the bytes of the whole path", async (t, h) => {
  plant(h.roots.session, TREE);
  assert.deepEqual(paths(await h.files.list("/session", { recursive: true })), ALL);
  assert.deepEqual(
    paths(await h.files.list("/session")),
    ALL.filter((each) => each.split("/").length === 3),
  );
  assert.deepEqual(paths(await h.files.list("/session/a")), s("a/b", "a/c", "a/up"));
  assert.deepEqual(paths(await h.files.list("/session/a", { recursive: true })), s("a/b", "a/b/d", "a/c", "a/up"));
  assert.deepEqual(await h.files.list("/session/empty"), []);
  assert.deepEqual(await h.files.list("/artifacts"), []);
  const [first, second, third] = paths(await h.files.list("/session", { recursive: true, pattern: "{a-b,a/c,a}" }));
  assert.deepEqual([first, second, third], s("a", "a-b", "a/c"), "the contract's own example");
  assert.ok(ALL.indexOf("/session/\uff5e.txt") < ALL.indexOf("/session/\ud83d\ude00.txt"), "not the order of UTF-16");
});

onBackends("an entry says what a file is", async (t, h) => {
  plant(h.roots.session, { "d/x": "x", l: link("d"), p: fifo(), "foreign.bin": "12345" });
  const from = Date.now() - 2_000;
  const ref = await h.files.writeText("/session/own.md", "own", { artifact: { name: "Own" } });
  const entries = Object.fromEntries(
    (await h.files.list("/session")).map((entry) => [path.posix.basename(entry.path), entry]),
  );
  assert.deepEqual(Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, entry.kind])), {
    d: "directory",
    l: "symlink",
    p: "other",
    "foreign.bin": "file",
    "own.md": "file",
  });
  assert.equal(entries["own.md"].sha256, ref.sha256);
  assert.equal(entries["own.md"].mediaType, ref.mediaType);
  assert.deepEqual(entries["own.md"].artifact, ref.artifact);
  assert.equal(entries["foreign.bin"].bytes, 5);
  assert.ok([undefined, sha256("12345")].includes(entries["foreign.bin"].sha256));
  for (const entry of [entries["own.md"], entries["foreign.bin"]]) {
    assert.ok(
      entry.updatedAt instanceof Date &&
        entry.updatedAt.getTime() >= from &&
        entry.updatedAt.getTime() <= Date.now() + 2_000,
    );
  }
  for (const entry of Object.values(entries)) {
    for (const [key, value] of Object.entries(entry))
      assert.notEqual(value, undefined, `${key} is absent, not undefined`);
    assert.deepEqual(structuredClone(entry), entry);
    assert.deepEqual(await h.files.stat(entry.path), entry, "stat says the same");
  }
});

onBackends("pages of any size join to the whole", async (t, h) => {
  plant(h.roots.session, TREE);
  for (const options of [{ recursive: true }, {}, { recursive: true, pattern: "**/*.md" }]) {
    const whole = await h.files.list("/session", options);
    assert.ok(whole.length > 2);
    for (const limit of [1, 2, 3, 7, whole.length, whole.length + 1, 10_000]) {
      const joined = [];
      let after;
      for (let page = 0; page <= whole.length + 1; page += 1) {
        const part = await h.files.list("/session", { ...options, limit, ...(after ? { after } : {}) });
        assert.ok(part.length <= limit);
        if (part.length === 0) break;
        joined.push(...part);
        after = part.at(-1).path;
      }
      assert.deepEqual(joined, whole, `limit ${limit}`);
    }
  }
  // A cursor needs no file: the last one of a page may be gone.
  const after = "/session/a/bb-never-there";
  assert.deepEqual(
    paths(await h.files.list("/session", { recursive: true, after })),
    ALL.filter((each) => byBytes(each, after) > 0),
  );
  assert.deepEqual(await h.files.list("/session", { after: ALL.at(-1) }), []);
});

onBackends("a pattern is a glob on the path below the folder", async (t, h) => {
  plant(h.roots.session, {
    "a.md": "",
    "b.txt": "",
    "d/a.md": "",
    "d/e/a.md": "",
    "d/e/b.txt": "",
    docs: dir(),
    "[x].md": "",
    ".hidden.md": "",
    "x y.md": "",
  });
  const glob = async (pattern, options = {}) =>
    paths(await h.files.list("/session", { recursive: true, pattern, ...options }));
  assert.deepEqual(await glob("*.md"), s(".hidden.md", "[x].md", "a.md", "x y.md"));
  assert.deepEqual(await glob("**/*.md"), s(".hidden.md", "[x].md", "a.md", "d/a.md", "d/e/a.md", "x y.md"));
  assert.deepEqual(await glob("d/*.md"), s("d/a.md"));
  assert.deepEqual(await glob("d/**"), s("d/a.md", "d/e", "d/e/a.md", "d/e/b.txt"));
  assert.deepEqual(await glob("?.txt"), s("b.txt"));
  assert.deepEqual(await glob("[ab].*"), s("a.md", "b.txt"));
  assert.deepEqual(await glob("{a.md,b.txt}"), s("a.md", "b.txt"));
  assert.deepEqual(await glob("[[]x].md"), s("[x].md"));
  assert.deepEqual(await glob("d*"), s("d", "docs"));
  assert.deepEqual(await glob("*.MD"), []);
  assert.deepEqual(await glob("**/*.md", { recursive: false }), s(".hidden.md", "[x].md", "a.md", "x y.md"));
  assert.deepEqual(
    paths(await h.files.list("/session/d", { recursive: true, pattern: "*.md" })),
    s("d/a.md"),
    "below the listed folder, not below the root",
  );
  assert.deepEqual(
    paths(await h.files.list("/session/d", { recursive: true, pattern: "e/*" })),
    s("d/e/a.md", "d/e/b.txt"),
  );
  for (const pattern of ["[", "{a", "a[b", 7, {}])
    await rejectsWith(h.files.list("/session", { pattern }), "FS_INVALID_OPTION");
});

test("options that make no sense are told", async (t) => {
  const h = await withHost(t);
  await h.files.writeText("/session/a", "x");
  for (const limit of [0, -1, 1.5, NaN, "3"])
    await rejectsWith(h.files.list("/session", { limit }), "FS_INVALID_OPTION", { message: /limit/ });
  for (const after of [7, {}])
    await assert.rejects(h.files.list("/session", { after }), (error) =>
      ["FS_INVALID_OPTION", "FS_INVALID_PATH"].includes(error.code),
    );
  await rejectsWith(h.files.list("/session", { recursive: "yes" }), "FS_INVALID_OPTION", { message: /recursive/ });
  await rejectsWith(h.files.list("/session", { signal: AbortSignal.abort(new Error("before")) }), "FS_ABORTED");
});

onBackends("names that the grammar refuses are left out, with all below them", async (t, h) => {
  plant(h.roots.session, { "ok.txt": "x", "sub/ok.txt": "x" });
  for (const bad of ["new\nline", "esc\u001b[31m", "tab\t", "del\u007f", "c1\u0085", "back\\slash", "..\\x"]) {
    plant(h.roots.session, { [bad]: "x", [`sub/${bad}`]: "x", [`d-${bad}/inner.txt`]: "x" });
  }
  for (const raw of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${h.roots.session}/`), Buffer.from(raw)]), "x");
    fs.mkdirSync(Buffer.concat([Buffer.from(`${h.roots.session}/sub/`), Buffer.from(raw)]));
  }
  assert.deepEqual(paths(await h.files.list("/session")), s("ok.txt", "sub"));
  assert.deepEqual(paths(await h.files.list("/session", { recursive: true })), s("ok.txt", "sub", "sub/ok.txt"));
  assert.deepEqual(paths(await h.files.list("/session", { recursive: true, limit: 2 })), s("ok.txt", "sub"));
  // They do not stand in the way of the folder's end.
  await h.files.remove("/session/sub", { recursive: true });
  assert.equal(fs.existsSync(path.join(h.roots.session, "sub")), false);
});

onBackends("what cannot be listed", async (t, h) => {
  plant(h.roots.session, { f: file("x"), "to-f": link("f"), "to-nothing": link("nothing") });
  for (const at of ["/session/f", "/session/f/", "/session/to-f"])
    await rejectsWith(h.files.list(at), "FS_NOT_DIRECTORY");
  for (const at of ["/session/none", "/session/none/deeper", "/session/to-nothing", "/artifacts/none/"])
    await rejectsWith(h.files.list(at), "FS_NOT_FOUND", { message: /ENOENT/ });
  for (const at of ["/session/none", "/session/none/x"]) {
    await rejectsWith(h.files.stat(at), "FS_NOT_FOUND", { message: /ENOENT/, path: at });
    await rejectsWith(h.files.read(at), "FS_NOT_FOUND", { message: /ENOENT/, path: at });
    await rejectsWith(h.files.readStream(at), "FS_NOT_FOUND", { message: /ENOENT/, path: at });
  }
});

onBackends("a tree deeper than any path may be is listed as far as paths go", async (t, h) => {
  let at = h.roots.session;
  for (let depth = 0; depth < 200; depth += 1) {
    at = path.join(at, "d");
    fs.mkdirSync(at);
  }
  const entries = await h.files.list("/session", { recursive: true });
  assert.ok(entries.length >= 126 && entries.length <= 128, `${entries.length} entries`);
  for (const entry of entries) await h.files.stat(entry.path);
});

test("twenty thousand files: all there, in order, with the loop turning", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  const raw = await h.host.sessions.getOrCreate({ id: "test" }); // not watched: what is timed is the library
  const count = 20_000;
  for (let at = 0; at < 20; at += 1) fs.mkdirSync(path.join(h.roots.session, `d${at}`));
  for (let at = 0; at < count; at += 1) fs.writeFileSync(path.join(h.roots.session, `d${at % 20}`, `f${at}`), "");
  let entries;
  await staysResponsive(async () => {
    entries = await raw.files.list("/session", { recursive: true });
  });
  assert.equal(entries.length, count + 20);
  const listed = paths(entries);
  assert.deepEqual(listed, [...listed].sort(byBytes));
  assert.equal(new Set(listed).size, count + 20);
  let after;
  let pages = 0;
  for (let seen = 0; seen < entries.length; pages += 1) {
    const page = await raw.files.list("/session", { recursive: true, limit: 7_000, ...(after ? { after } : {}) });
    assert.deepEqual(paths(page), listed.slice(seen, seen + 7_000));
    seen += page.length;
    after = page.at(-1).path;
  }
  assert.equal(pages, 3);
  assert.equal((await raw.files.list("/session/d7", { limit: 5 })).length, 5);
});
