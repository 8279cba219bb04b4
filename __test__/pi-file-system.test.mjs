// The entry "./pi": what pi's own file system has beyond reading and writing.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fails, ok, withPi } from "./support/pi.mjs";
import { fifo, leftovers, link, plant, rootsSnapshot } from "./support/tree.mjs";

const LONG = "x".repeat(300);

test("a path is made whole without looking for what it names; links are not followed", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, { "d/a.txt": "abc", link: link("d"), out: link("/etc") });
  assert.equal(pi.cwd, "/session");
  for (const [given, whole] of [
    ["a/b.txt", "/session/a/b.txt"],
    ["./a//b/.", "/session/a/b"],
    ["", "/session"],
    [".", "/session"],
    ["/artifacts/x/", "/artifacts/x"],
    ["link/a.txt", "/session/link/a.txt"],
    ["out/passwd", "/session/out/passwd"],
    ["d/a.txt/x", "/session/d/a.txt/x"],
  ])
    assert.equal(await ok(pi.absolutePath(given)), whole, given);
  for (const bad of ["../x", "a/../b", "a\\b", "a\0", "\ud800", LONG, 5, undefined, null])
    await fails(pi.absolutePath(bad), "invalid");
  await fails(pi.absolutePath("/etc/passwd"), "permission_denied");
  await fails(pi.absolutePath("/"), "permission_denied");
});

test("parts are joined; relative ones stay relative", async (t) => {
  const { pi } = await withPi(t);
  for (const [parts, joined] of [
    [["a", "b.txt"], "a/b.txt"],
    [["/session", "a", "b.txt"], "/session/a/b.txt"],
    [["", "/session/", "/a/"], "/session/a"],
    [["a/./b", ".", "c"], "a/b/c"],
    [["", "."], "."],
    [[], "."],
  ])
    assert.equal(await ok(pi.joinPath(parts)), joined, JSON.stringify(parts));
  const hostile = new Proxy(["a"], {
    get: (parts, name) => (name === "0" ? assert.fail("looked at") : Reflect.get(parts, name)),
  });
  for (const bad of [["a", "..", "b"], ["a", 5], ["a\\b"], ["a", LONG], "a", undefined, null, { length: 1 }])
    await fails(pi.joinPath(bad), "invalid");
  assert.equal((await pi.joinPath(hostile)).ok, false);
  await fails(pi.joinPath(["/etc", "passwd"]), "permission_denied");
});

test("the text of a path alone loads no Persistent Dir", async (t) => {
  const { customDir } = await import("@little-stack/files");
  let loads = 0;
  const load = async () => {
    loads++;
    return { a: "x", link: "y" };
  };
  const dir = customDir({ harnessDir: "/persistent/kv", commit: "read-only", load });
  const { pi } = await withPi(t, { persistentDirs: [dir] });
  assert.equal(await ok(pi.absolutePath("/persistent/kv/a")), "/persistent/kv/a");
  assert.equal(await ok(pi.joinPath(["/persistent/kv", "a"])), "/persistent/kv/a");
  assert.equal(loads, 0);
  assert.equal(await ok(pi.canonicalPath("/persistent/kv/a")), "/persistent/kv/a");
  assert.equal(loads, 1);
  await fails(pi.createDir("/persistent/other/x", { recursive: false }), "permission_denied");
});

test("the canonical path is where links lead inside the root", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, {
    "d/e/a.txt": "abc",
    folder: link("d/e"),
    file: link("folder/a.txt"),
    "d/up": link("../folder"),
    dangling: link("none"),
    out: link("/etc"),
    loop: link("loop"),
    p: fifo(),
  });
  for (const [given, real] of [
    ["d/e/a.txt", "/session/d/e/a.txt"],
    ["folder", "/session/d/e"],
    ["folder/", "/session/d/e"],
    ["folder/a.txt", "/session/d/e/a.txt"],
    ["file", "/session/d/e/a.txt"],
    ["d/up/a.txt", "/session/d/e/a.txt"],
    ["p", "/session/p"],
    ["", "/session"],
  ])
    assert.equal(await ok(pi.canonicalPath(given)), real, given);
  await fails(pi.canonicalPath("dangling"), "not_found");
  await fails(pi.canonicalPath("none"), "not_found");
  await fails(pi.canonicalPath("file/x"), "not_directory");
  await fails(pi.canonicalPath("out"), "permission_denied");
  await fails(pi.canonicalPath("out/passwd"), "permission_denied");
  assert.equal((await pi.canonicalPath("loop")).ok, false);
  await fails(pi.canonicalPath("../x"), "invalid");
  await fails(pi.canonicalPath(5), "invalid");
});

test("a listing tells of each child what fileInfo tells of it; what is no file is left out", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, {
    "d/a.txt": "abc",
    "d/sub/x": "",
    "d/link": link("a.txt"),
    "d/p": fifo(),
    "d/none": link("x"),
  });
  plant(roots.session, { l: link("d") });
  const listed = await ok(pi.listDir("d/"));
  assert.deepEqual(
    listed.map(({ name, kind, size }) => [name, kind, size]),
    [
      ["a.txt", "file", 3],
      ["link", "symlink", 0],
      ["none", "symlink", 0],
      ["sub", "directory", 0],
    ],
  );
  for (const entry of listed) assert.deepEqual(entry, await ok(pi.fileInfo(entry.path)));
  assert.deepEqual(
    (await ok(pi.listDir("l"))).map((entry) => entry.path),
    ["/session/l/a.txt", "/session/l/link", "/session/l/none", "/session/l/sub"],
  );
  await fails(pi.listDir("none"), "not_found");
  await fails(pi.listDir("d/a.txt"), "not_directory");
});

test("a folder alone needs the one above, and a name that is free", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, { "d/a.txt": "abc", link: link("d"), dangling: link("none") });
  const before = rootsSnapshot(roots);
  const alone = { recursive: false };
  await fails(pi.createDir("x/y", alone), "not_found");
  await fails(pi.createDir("d/a.txt/x", alone), "not_directory");
  for (const taken of ["d", "d/", "d/.", "d/a.txt", "link", "dangling", "", "/session", "/artifacts/"])
    await fails(pi.createDir(taken, alone), "invalid");
  await fails(pi.createDir("link/x", alone), "permission_denied");
  await fails(pi.createDir("link/x"), "permission_denied");
  for (const bad of [{ recursive: 1 }, { recursive: null }, { abortSignal: 5 }, 5, null])
    await fails(pi.createDir("new", bad), "invalid");
  assert.deepEqual(rootsSnapshot(roots), before);
  await ok(pi.createDir("d/new/", alone));
  await ok(pi.createDir("one", alone));
  await ok(pi.createDir("two/three", { recursive: true }));
  await ok(pi.createDir("two/four", { recursive: undefined }));
  assert.deepEqual(fs.readdirSync(path.join(roots.session, "two")), ["four", "three"]);
});

test("temporary names keep their ends, and nothing else gets into them", async (t) => {
  const { pi, roots, dataDir } = await withPi(t);
  const before = rootsSnapshot(roots);
  const bad = ["a/b", "../", "/", "a\\b", "a\0", "a\n", "\ud800", LONG, 5, null, {}];
  for (const each of bad) {
    await fails(pi.createTempDir(each), "invalid");
    await fails(pi.createTempFile({ prefix: each }), "invalid");
    await fails(pi.createTempFile({ suffix: each }), "invalid");
  }
  await fails(pi.createTempFile(5), "invalid");
  await fails(pi.createTempFile(null), "invalid");
  await fails(pi.createTempFile({ abortSignal: 5 }), "invalid");
  await fails(pi.createTempDir("a", 5), "invalid");
  await fails(pi.createTempDir("a", AbortSignal.abort()), "aborted");
  await fails(pi.createTempFile({ abortSignal: AbortSignal.abort() }), "aborted");
  assert.deepEqual(rootsSnapshot(roots), before);
  assert.match(await ok(pi.createTempDir()), /^\/session\/tmp\/tmp-[\w-]{36}$/);
  assert.match(await ok(pi.createTempDir("..")), /^\/session\/tmp\/\.\.[\w-]{36}$/);
  assert.match(await ok(pi.createTempDir("")), /^\/session\/tmp\/[\w-]{36}$/);
  assert.match(await ok(pi.createTempFile()), /^\/session\/tmp\/[\w-]{36}$/);
  const file = await ok(pi.createTempFile({ prefix: "out é-", suffix: ".log" }));
  assert.match(file, /^\/session\/tmp\/out é-[\w-]{36}\.log$/);
  assert.equal(await ok(pi.readTextFile(file)), "");
  assert.deepEqual(leftovers(dataDir), []);
});

test("cleanup removes what this object made, and only that", async (t) => {
  const { pi, roots, session } = await withPi(t);
  const { piExecutionFiles } = await import("@little-stack/files/pi");
  const other = piExecutionFiles(session);
  const theirs = await ok(other.createTempFile());
  await ok(pi.writeFile("tmp/mine.txt", "x"));
  const [folder, file, moved] = [
    await ok(pi.createTempDir()),
    await ok(pi.createTempFile()),
    await ok(pi.createTempFile()),
  ];
  await ok(pi.writeFile(`${folder}/deep/er.txt`, "x"));
  await ok(pi.renameFile(moved, "kept.txt"));
  assert.equal(await pi.cleanup(), undefined);
  for (const gone of [folder, file, moved]) assert.equal(await ok(pi.exists(gone)), false);
  for (const there of [theirs, "tmp/mine.txt", "kept.txt"]) assert.equal(await ok(pi.exists(there)), true);
  await pi.cleanup();
  const late = await ok(pi.createTempFile());
  await Promise.all([pi.cleanup(), pi.cleanup()]);
  assert.equal(await ok(pi.exists(late)), false);
  assert.deepEqual(fs.readdirSync(path.join(roots.session, "tmp")).length, 2);
});

test("cleanup goes through no link, tells nobody of a failure, and tries again", async (t) => {
  const { pi, roots, session } = await withPi(t);
  const file = await ok(pi.createTempFile());
  const tmp = path.join(roots.session, "tmp");
  fs.renameSync(tmp, path.join(roots.session, "elsewhere"));
  fs.symlinkSync("elsewhere", tmp);
  const before = rootsSnapshot(roots);
  await pi.cleanup();
  assert.deepEqual(rootsSnapshot(roots), before);
  await fails(pi.createTempFile(), "permission_denied");
  await fails(pi.createTempDir(), "permission_denied");
  fs.unlinkSync(tmp);
  fs.renameSync(path.join(roots.session, "elsewhere"), tmp);
  await pi.cleanup();
  assert.equal(await ok(pi.exists(file)), false);
  await ok(pi.createTempFile());
  await session.close();
  await pi.cleanup();
});

test("options that throw when they are looked at are a result as well", async (t) => {
  const { pi } = await withPi(t);
  await ok(pi.writeFile("a", "abc"));
  const hostile = new Proxy({}, { get: () => assert.fail("looked at") });
  for (const call of [
    () => pi.readTextLines("a", hostile),
    () => pi.readTextLines("a", null),
    () => pi.createDir("d", hostile),
    () => pi.remove("a", hostile),
    () => pi.remove("a", { recursive: "yes" }),
    () => pi.createTempFile(hostile),
    () => pi.createTempDir(hostile),
    () => pi.readTextFile("a", hostile),
    () => pi.joinPath(hostile),
    () => pi.absolutePath(hostile),
  ])
    await fails(call(), "invalid");
  assert.deepEqual(
    (await ok(pi.listDir(""))).map((entry) => entry.name),
    ["a"],
  );
});

test("an error is one as pi has them, and tells all of it in JSON", async (t) => {
  const { pi } = await withPi(t);
  const error = await fails(pi.readTextFile("none"), "not_found");
  assert.equal(error.name, "FileError");
  assert.equal(error.path, "/session/none");
  assert.equal(error.cause.code, "FS_NOT_FOUND");
  assert.deepEqual(JSON.parse(JSON.stringify(error)), {
    code: "not_found",
    message: error.message,
    path: "/session/none",
  });
  const other = await fails(pi.readTextFile(5), "invalid");
  assert.equal(Object.hasOwn(other, "path"), false);
});
