// G1: which strings are paths. The shared table runs whole against the writer, then against every other method.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { onBackends } from "./support/backends.mjs";
import { rejectsWith, withHost } from "./support/host.mjs";
import { file, leftovers, plant, rootsSnapshot, sha256 } from "./support/tree.mjs";

const { rows } = JSON.parse(fs.readFileSync(new URL("cases/write-paths.json", import.meta.url), "utf8"));
const refused = rows.filter((row) => row.expect !== "ok");
const short = (text) => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** What the message says of a refusal, by the table's own reason. */
const WORDS = {
  relative: /absolute/i,
  traversal: /traversal/,
  outside: /managed root/,
  prefix: /managed root/,
  "no root": /managed root/,
};
/** On disk: the real file of a harness path. */
const real = (roots, harness) => {
  const [, root, ...rest] = harness.split("/");
  return path.join(roots[root], ...rest);
};
const parentOf = (harness) => harness.slice(0, harness.lastIndexOf("/"));

describe("cases/write-paths.json", () => {
  test("the table is all there", () => {
    assert.ok(rows.length >= 60 && refused.length >= 35, `${rows.length} rows, ${refused.length} refusals`);
  });

  onBackends("every accepted path is written under its normal form", async (t, h) => {
    for (const [at, row] of rows.entries()) {
      if (row.expect !== "ok") continue;
      await t.test(short(row.path), async () => {
        const session = await h.session(`row-${at}`);
        const ref = await session.files.writeText(row.path, "x");
        assert.equal(ref.path, row.normal);
        assert.equal(ref.bytes, 1);
        assert.equal(ref.sha256, sha256("x"));
        assert.equal(fs.readFileSync(real(session.hostPaths(), row.normal), "utf8"), "x");
        assert.equal((await session.files.read(row.path)).text(), "x");
        assert.equal((await session.files.stat(row.path)).path, row.normal);
        const listed = await session.files.list(parentOf(row.normal));
        assert.deepEqual(
          listed.map((entry) => entry.path),
          [row.normal],
          "nothing else was made",
        );
        await session.files.remove(row.path);
        assert.equal(fs.existsSync(real(session.hostPaths(), row.normal)), false);
        await session.close();
      });
    }
  });

  onBackends("every refused path leaves the disk as it was", async (t, h) => {
    plant(h.roots.session, { "a/b": file("old"), x: file("old") });
    const before = rootsSnapshot(h.roots);
    const writers = {
      writeText: (p) => h.files.writeText(p, "new"),
      write: (p) => h.files.write(p, Buffer.from("new")),
      writeJSON: (p) => h.files.writeJSON(p, { new: true }),
      stream: (p) =>
        h.files.write(
          p,
          (async function* () {
            yield Buffer.from("new");
          })(),
        ),
    };
    for (const row of refused) {
      await t.test(`${short(row.path)}: ${row.why}`, async () => {
        for (const write of Object.values(writers)) {
          await rejectsWith(write(row.path), row.expect, { reason: row.reason, message: WORDS[row.why] });
        }
        assert.deepEqual(rootsSnapshot(h.roots), before);
        assert.deepEqual(leftovers(h.dataDir), []);
      });
    }
    assert.equal(fs.readdirSync(h.outside).length, 0);
  });

  onBackends("the same refusals for read, readStream, list, stat and remove", async (t, h) => {
    plant(h.roots.session, { "a/b": file("old"), x: file("old") });
    const before = rootsSnapshot(h.roots);
    const ops = {
      read: (p) => h.files.read(p),
      readStream: (p) => h.files.readStream(p),
      stat: (p) => h.files.stat(p),
      list: (p) => h.files.list(p, { recursive: true }),
      remove: (p) => h.files.remove(p, { recursive: true, force: true }),
    };
    const elsewhere = new Set(["/session/a/", "/session", "/persistent", "/persistent/nobody/x"]);
    for (const row of refused) {
      if (elsewhere.has(row.path)) continue;
      await t.test(`${short(row.path)}: ${row.why}`, async () => {
        for (const run of Object.values(ops)) {
          await rejectsWith(run(row.path), row.expect, { reason: row.reason, message: WORDS[row.why] });
        }
        await assert.rejects(h.main.artifacts.read(row.path), (error) =>
          [row.expect, "FS_NOT_FOUND"].includes(error.code),
        );
        assert.deepEqual(rootsSnapshot(h.roots), before);
      });
    }
  });
});

onBackends("roots are listed and described, never written, replaced or removed", async (t, h) => {
  await h.files.writeText("/session/keep.txt", "x");
  const before = rootsSnapshot(h.roots);
  for (const root of ["/session", "/artifacts", "/persistent"]) {
    for (const form of [root, `${root}/`, `/${root}`, `${root}/.`, `${root}//`]) {
      assert.ok(Array.isArray(await h.files.list(form)), form);
      for (const options of [{}, { recursive: true }, { recursive: true, force: true }]) {
        await rejectsWith(h.files.remove(form, options), "FS_SANDBOX_DENIED", { reason: "root" });
      }
    }
    const entry = await h.files.stat(root);
    assert.equal(entry.path, root);
    assert.equal(entry.kind, "directory");
    await rejectsWith(h.files.writeText(root, "x"), "FS_SANDBOX_DENIED", { reason: "root" });
    await rejectsWith(h.files.writeText(`${root}/.`, "x"), "FS_SANDBOX_DENIED", { reason: "root" });
    await assert.rejects(h.files.read(root), (error) =>
      ["FS_NOT_REGULAR_FILE", "FS_SANDBOX_DENIED"].includes(error.code),
    );
  }
  assert.deepEqual(rootsSnapshot(h.roots), before);
});

onBackends("under /persistent/ nothing that no Persistent Dir covers", async (t, h) => {
  for (const p of ["/persistent/nobody", "/persistent/nobody/x", "/persistent/a/b/c"]) {
    await rejectsWith(h.files.writeText(p, "x"), "FS_SANDBOX_DENIED", { reason: "undeclared_persistent_dir" });
    await rejectsWith(h.files.remove(p, { recursive: true, force: true }), "FS_SANDBOX_DENIED", {
      reason: "undeclared_persistent_dir",
    });
    for (const run of [h.files.read, h.files.stat, h.files.list]) {
      await assert.rejects(run(p), (error) => ["FS_SANDBOX_DENIED", "FS_NOT_FOUND"].includes(error.code));
    }
  }
  assert.deepEqual(await h.files.list("/persistent"), []);
});

onBackends("a trailing slash is fine for list and remove", async (t, h) => {
  plant(h.roots.session, { "a/b.txt": file("x"), "c/d.txt": file("x"), "e.txt": file("x") });
  assert.deepEqual(
    (await h.files.list("/session/a/")).map((entry) => entry.path),
    ["/session/a/b.txt"],
  );
  await h.files.remove("/session/a/", { recursive: true });
  await h.files.remove("/session//c///", { recursive: true });
  assert.deepEqual(fs.readdirSync(h.roots.session), ["e.txt"]);
  await rejectsWith(h.files.list("/session/e.txt/"), "FS_NOT_DIRECTORY");
  await rejectsWith(h.files.writeText("/session/e.txt/", "y"), "FS_INVALID_PATH");
  assert.equal(fs.readFileSync(path.join(h.roots.session, "e.txt"), "utf8"), "x");
});

test("what is not a string, or not well-formed, is no path", async (t) => {
  const h = await withHost(t);
  const before = rootsSnapshot(h.roots);
  const wrong = [
    null,
    undefined,
    7,
    0n,
    true,
    {},
    [],
    ["/session/a"],
    Symbol("p"),
    () => "/session/a",
    new URL("file:///session/a"),
    Buffer.from("/session/a"),
    new String("/session/a"),
    { toString: () => "/session/a" },
    "/session/\ud800",
    "/session/\udc00x",
    "/session/a\udc00\ud800",
    "\ud83d/session/a",
  ];
  for (const p of wrong) {
    for (const run of [
      () => h.files.write(p, "x"),
      () => h.files.writeText(p, "x"),
      () => h.files.writeJSON(p, 1),
      () => h.files.read(p),
      () => h.files.readStream(p),
      () => h.files.stat(p),
      () => h.files.list(p),
      () => h.files.remove(p, { force: true }),
    ])
      await rejectsWith(run, "FS_INVALID_PATH");
  }
  assert.deepEqual(rootsSnapshot(h.roots), before);
});

test("each rule refuses in its own words, in the order of the grammar", async (t) => {
  const h = await withHost(t);
  const table = [
    ["session/\n\\..", /absolute/i],
    ["/session/\n\\/..", /control/i],
    ["/session/\u0085", /control/i],
    ["/session/\u009f/..", /control/i],
    ["/session/..\\x/..", /backslash|\\/i],
    ["/../etc/passwd", /traversal/],
    [`/session/${"a".repeat(256)}/..`, /traversal/],
    [`/session/${"a".repeat(256)}`, /255/],
    [`/session/${"b/".repeat(2500)}x`, /4,?096|128/],
    [`/session${"/d".repeat(140)}`, /128/],
    [`/nowhere${"/d".repeat(140)}`, /128/],
    ["/nowhere", /managed root/],
    ["/nowhere", /\/session\b/],
    ["/nowhere", /\/artifacts\b/],
  ];
  for (const [p, words] of table) {
    const code = p.startsWith("/nowhere") && p.length < 20 ? "FS_SANDBOX_DENIED" : "FS_INVALID_PATH";
    await rejectsWith(h.files.writeText(p, "x"), code, { message: words });
  }
});

onBackends("limits hold to the byte, measured after NFC", async (t, h) => {
  const deep = `/session${"/d".repeat(127)}`;
  assert.equal((await h.files.writeText(deep, "x")).path, deep);
  await rejectsWith(h.files.writeText(`${deep}/d/d`, "x"), "FS_INVALID_PATH");
  let long = "/artifacts";
  while (long.length + 256 < 4096) long += `/${"n".repeat(255)}`;
  long += `/${"m".repeat(4096 - long.length - 1)}`;
  assert.equal(Buffer.byteLength(long), 4096);
  assert.equal((await h.files.writeText(long, "long")).path, long);
  assert.equal((await h.files.read(long)).text(), "long");
  await rejectsWith(h.files.writeText(`${long}m`, "x"), "FS_INVALID_PATH");
  // Decomposed 300 bytes, composed 200; and the other way: U+0958 is 3 bytes, its NFC is 6.
  assert.equal(
    (await h.files.writeText(`/session/${"a\u0308".repeat(100)}`, "x")).path,
    `/session/${"\u00e4".repeat(100)}`,
  );
  await rejectsWith(h.files.writeText(`/session/${"\u0958".repeat(50)}`, "x"), "FS_INVALID_PATH");
  await h.files.remove(`/artifacts/${"n".repeat(255)}`, { recursive: true });
  assert.deepEqual(fs.readdirSync(h.roots.artifacts), []);
});

test("errors about long paths stay short and whole", async (t) => {
  const h = await withHost(t);
  const longest = (name) => `/session${`/${name}`.repeat(Math.floor(4_080 / (1 + Buffer.byteLength(name))))}`;
  for (const name of ["n".repeat(200), "\ud83d\ude00".repeat(50), "\u00e4".repeat(120), "\u202e".repeat(60)]) {
    const p = longest(name);
    assert.ok(Buffer.byteLength(p) > 3_800);
    await rejectsWith(h.files.read(p), "FS_NOT_FOUND", { message: /ENOENT/ });
    await rejectsWith(h.files.remove(p), "FS_NOT_FOUND", { message: /ENOENT/ });
    await rejectsWith(h.files.writeText(`${p}/../x`, "x"), "FS_INVALID_PATH", { message: /traversal/ });
    await rejectsWith(h.files.writeText(`/x${p}`, "x"), "FS_SANDBOX_DENIED", { message: /managed root/ });
    await rejectsWith(h.files.writeText(p.repeat(300), "x"), "FS_INVALID_PATH");
  }
});
