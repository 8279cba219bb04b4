// The seam: opaque targets, versions, guards, and the codes with DeepSeek's meanings.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { piExecutionFiles, piHooks } from "@little-stack/files/pi";
import { sandboxFiles, sessionFileSystem } from "@little-stack/files/tools";
import { assertError, rejectsWith, withHost } from "./support/host.mjs";
import { onBackends } from "./support/backends.mjs";
import { fifo, link, plant } from "./support/tree.mjs";
import { all } from "./support/turns.mjs";

const seam = async (h) => {
  const session = await h.host.sessions.getOrCreate({ id: "test" });
  const files = sessionFileSystem(session);
  return { session, files, at: (name) => files.resolve(`/session/${name}`) };
};

test("a session of another make is refused", () => {
  for (const session of [undefined, {}, { files: {} }, 5]) {
    assert.throws(
      () => sessionFileSystem(session),
      (error) => {
        assertError(error, "FS_INVALID_OPTION", { message: /localHost/ });
        return true;
      },
    );
  }
});

test("what cannot be read, or is no target, is refused in words", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a.txt");
  const unreadable = { __proto__: null };
  for (const name of ["files", "displayPath", "targetKey"]) {
    Object.defineProperty(unreadable, name, {
      get() {
        throw new Error(name);
      },
    });
  }
  for (const wrong of [undefined, null, 5, {}, unreadable, { targetKey: 5 }]) {
    for (const ask of [() => files.contains(target, wrong), () => files.contains(wrong, target)]) {
      assert.throws(ask, (error) => (assertError(error, "FS_INVALID_OPTION"), true));
    }
    await rejectsWith(files.readText(wrong), "FS_INVALID_OPTION");
  }
  for (const make of [sessionFileSystem, sandboxFiles, piExecutionFiles, piHooks]) {
    assert.throws(
      () => make(unreadable),
      (error) => (assertError(error, "FS_INVALID_OPTION"), true),
    );
  }
});

onBackends("resolve: one key for one file, a path to show, also of what is not there", async (t, h) => {
  const { files, at } = await seam(h);
  plant(h.roots.session, { "dir/a.txt": "x", link: link("dir"), "plain.txt": "x" });
  const target = await at("dir/a.txt");
  assert.deepEqual([target.displayPath, Object.isFrozen(target)], ["/session/dir/a.txt", true]);
  assert.equal((await at("link/./a.txt")).targetKey, target.targetKey);
  assert.equal((await at("dir//a.txt")).targetKey, target.targetKey);
  assert.notEqual((await at("plain.txt")).targetKey, target.targetKey);
  assert.equal((await at("dir/new/b.txt")).displayPath, "/session/dir/new/b.txt");
  await rejectsWith(files.resolve(""), "FS_NOT_FOUND");
  await rejectsWith(files.resolve("  "), "FS_NOT_FOUND");
  await rejectsWith(at("plain.txt/below"), "FS_NOT_FOUND");
  await rejectsWith(files.resolve("relative"), "FS_INVALID_PATH");
  await rejectsWith(files.resolve("/elsewhere"), "FS_SANDBOX_DENIED");
  await rejectsWith(files.resolve(5), "FS_INVALID_PATH");
  const folder = await at("dir");
  assert.ok(files.contains(folder, target) && files.contains(folder, folder));
  assert.ok(!files.contains(target, folder) && !files.contains(await at("di"), target));
});

onBackends("stat and lstat: metadata only; nothing there is undefined", async (t, h) => {
  const { files, at } = await seam(h);
  plant(h.roots.session, { "dir/a.txt": "abc", link: link("dir/a.txt"), gone: link("none"), p: fifo() });
  const info = await files.stat(await at("dir/a.txt"));
  assert.deepEqual([info.type, info.size, typeof info.version], ["file", 3, "string"]);
  assert.equal((await files.stat(await at("dir"))).type, "directory");
  assert.equal((await files.stat(await at("p"))).type, "other");
  assert.equal(await files.stat(await at("none")), undefined);
  assert.equal(await files.stat({ targetKey: "x", displayPath: "/session/dir/a.txt/below" }), undefined);
  assert.deepEqual(
    [(await files.stat(await at("link"))).type, (await files.lstat("/session/link")).type],
    ["file", "symlink"],
  );
  assert.equal((await files.lstat("/session/gone")).type, "symlink");
  assert.equal(await files.lstat("/session/none"), undefined);
  await rejectsWith(files.stat({}), "FS_INVALID_OPTION");
});

test("a version is another one after every change, also one that keeps size and time", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a.txt");
  const disk = path.join(h.roots.session, "a.txt");
  fs.writeFileSync(disk, "one");
  const seen = new Set([(await files.stat(target)).version]);
  const { atime, mtime } = fs.statSync(disk);
  for (const text of ["two", "six", "one"]) {
    fs.writeFileSync(disk, text);
    fs.utimesSync(disk, atime, mtime);
    seen.add((await files.stat(target)).version);
  }
  seen.add((await files.writeText(target, "ten")).version);
  seen.add((await files.editText(target, [{ oldString: "ten", newString: "two" }])).version);
  assert.equal(seen.size, 6);
  assert.equal((await files.stat(target)).version, (await files.readText(target)).version);
});

test("text is read whole with its BOM, streamed in whole characters, and refused when it is none", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const text = `\ufeff${"é🟡日\r\n".repeat(100_000)}`;
  plant(h.roots.session, {
    "a.txt": text,
    nul: "a\0b",
    latin1: { kind: "file", content: Buffer.from([0x61, 0xe9]), mode: 0o600 },
    "dir/x": "",
    empty: "",
  });
  const target = await at("a.txt");
  assert.equal((await files.readText(target)).text, text);
  const pieces = await all(files.streamText(target));
  assert.equal(pieces.join(""), text);
  assert.ok(pieces.length > 1 && pieces.every((piece) => piece.isWellFormed()));
  assert.deepEqual(await all(files.streamText(await at("empty"))), []);
  assert.equal((await files.readText(await at("empty"))).text, "");
  for (const name of ["nul", "latin1"]) {
    await rejectsWith(files.readText(await at(name)), "FS_NOT_TEXT");
    await rejectsWith(all(files.streamText(await at(name))), "FS_NOT_TEXT");
  }
  await rejectsWith(files.readText(await at("dir")), "FS_NOT_REGULAR_FILE");
  await rejectsWith(files.readText(await at("none")), "FS_NOT_FOUND");
  await rejectsWith(all(files.streamText(await at("none"))), "FS_NOT_FOUND");
});

test("bytes are read up to a cap that must be said, never cut", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  plant(h.roots.session, { a: "12345" });
  const target = await at("a");
  assert.equal(Buffer.from(await files.readBytes(target, { maxBytes: 5 })).toString(), "12345");
  await rejectsWith(files.readBytes(target, { maxBytes: 4 }), "FS_TOO_LARGE");
  await rejectsWith(files.readBytes(target), "FS_INVALID_OPTION", { message: /maxBytes/ });
  await rejectsWith(files.readBytes(target, {}), "FS_INVALID_OPTION", { message: /maxBytes/ });
});

onBackends("writes: with and without an intent", async (t, h) => {
  const { files, at } = await seam(h);
  const target = await at("new/a.txt");
  const made = await files.writeText(target, "one", { expected: { createIfAbsent: true } });
  assert.deepEqual(
    [made.operation, made.before, made.ref.path, made.ref.bytes],
    ["create", null, "/session/new/a.txt", 3],
  );
  await rejectsWith(files.writeText(target, "x", { expected: { createIfAbsent: true } }), "FS_NOT_OBSERVED");
  const again = await files.writeText(target, "two", { expected: { replaceIfVersion: made.version } });
  assert.deepEqual([again.operation, again.before], ["update", "one"]);
  await rejectsWith(files.writeText(target, "x", { expected: { replaceIfVersion: made.version } }), "FS_STALE_VERSION");
  await rejectsWith(
    files.writeText(await at("none"), "x", { expected: { replaceIfVersion: made.version } }),
    "FS_STALE_VERSION",
  );
  for (const replaceIfVersion of ["bogus", "v1-0-0-0-0-0", "", "é", "v".repeat(1000), `${again.version}0`]) {
    await rejectsWith(files.writeText(target, "x", { expected: { replaceIfVersion } }), "FS_STALE_VERSION");
    await rejectsWith(
      files.editText(target, [{ oldString: "two", newString: "x" }], { expected: { version: replaceIfVersion } }),
      "FS_STALE_VERSION",
    );
  }
  for (const none of [undefined, null, "/session/new/a.txt", {}]) {
    await rejectsWith(files.writeText(none, "x"), "FS_INVALID_OPTION", { message: /target/ });
  }
  assert.equal((await files.writeText(target, "three")).before, "two");
  plant(h.roots.session, { bin: "a\0b", gone: link("nothing") });
  assert.equal((await files.writeText(await at("bin"), "x")).before, null);
  await assert.rejects(files.writeText(await at("gone"), "x", { expected: { createIfAbsent: true } }));
  assert.ok(fs.lstatSync(path.join(h.roots.session, "gone")).isSymbolicLink());
  await rejectsWith(files.writeText(await at("new"), "x"), "FS_NOT_REGULAR_FILE");
  for (const expected of [
    {},
    { createIfAbsent: false },
    { createIfAbsent: true, replaceIfVersion: made.version },
    5,
    { replaceIfVersion: 5 },
  ]) {
    await rejectsWith(files.writeText(target, "x", { expected }), "FS_INVALID_OPTION");
  }
  await rejectsWith(files.writeText(target, 5), "FS_INVALID_OPTION", { message: /text/ });
  assert.equal((await files.readText(target)).text, "three");
});

test("`before` is left out from 10 MiB on", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a");
  const large = "x".repeat(10 * 1024 * 1024);
  await files.writeText(target, large.slice(1));
  assert.equal((await files.writeText(target, "small")).before, large.slice(1));
  await files.writeText(target, large);
  assert.equal((await files.writeText(target, "small")).before, null);
  assert.equal((await files.writeText(target, large)).before, null);
});

test("a long text goes in and out whole, and the loop keeps turning", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a");
  for (const text of ["x🟡é".repeat(1_000_000), `${"x".repeat(256 * 1024 - 1)}🟡${"\ud800"}x`]) {
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    await files.writeText(target, text);
    const read = await files.readText(target);
    clearInterval(timer);
    assert.ok(read.text === text.toWellFormed());
    assert.ok(longest < 250, `${longest} ms`); // far more than it is, on a busy machine; in one go it is 500
  }
});

test("edits: the codes, in their order", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a.txt");
  const { version } = await files.writeText(target, "one two two");
  const edit = (oldString, newString, more, options) =>
    files.editText(target, [{ oldString, newString, ...more }], options);
  await rejectsWith(edit("", "x"), "FS_EDIT_NOT_FOUND");
  await rejectsWith(edit("three", "x"), "FS_EDIT_NOT_FOUND");
  await rejectsWith(edit("two", "x"), "FS_AMBIGUOUS_EDIT");
  await rejectsWith(edit("one", "one"), "FS_INVALID_OPTION");
  await rejectsWith(files.editText(target, []), "FS_INVALID_OPTION");
  await rejectsWith(files.editText(target, "x"), "FS_INVALID_OPTION");
  await rejectsWith(edit("one", "x", {}, { expected: {} }), "FS_INVALID_OPTION");
  const edited = await edit("two", "2", { replaceAll: true }, { expected: { version } });
  assert.equal(edited.ref.bytes, 7);
  assert.match(edited.diff, /-one two two/);
  assert.match(edited.diff, /\+one 2 2/);
  await rejectsWith(edit("three", "x", {}, { expected: { version } }), "FS_STALE_VERSION");
  await rejectsWith(files.editText(await at("none"), [{ oldString: "a", newString: "b" }]), "FS_STALE_VERSION");
  await rejectsWith(
    files.editText(await at("none"), [{ oldString: "a", newString: "b" }], { expected: { version } }),
    "FS_STALE_VERSION",
  );
});

test("listDir: one level, sorted, with targets; never what is in the files", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  plant(h.roots.session, {
    "d/b.txt": "xx",
    "d/a/deep": "x",
    "d/link": link("b.txt"),
    "d/gone": link("none"),
    "d/p": fifo(),
  });
  const entries = await files.listDir(await at("d"));
  assert.deepEqual(
    entries.map(({ name, type, size, target }) => [name, type, size, target.displayPath]),
    [
      ["a", "directory", undefined, "/session/d/a"],
      ["b.txt", "file", 2, "/session/d/b.txt"],
      ["gone", "symlink", undefined, "/session/d/gone"],
      ["link", "symlink", undefined, "/session/d/link"],
      ["p", "other", undefined, "/session/d/p"],
    ].map((row) =>
      row[1] === "symlink" ? [row[0], row[1], entries.find(({ name }) => name === row[0]).size, row[3]] : row,
    ),
  );
  const key = async (name) => (await at(`d/${name}`)).targetKey;
  for (const { name, target } of entries) if (name !== "gone") assert.equal(target.targetKey, await key(name), name);
  await rejectsWith(files.listDir(await at("d/b.txt")), "FS_NOT_DIRECTORY");
  await rejectsWith(files.listDir(await at("none")), "FS_NOT_FOUND");
});

test("an aborted signal: FS_ABORTED, and nothing is written", async (t) => {
  const h = await withHost(t);
  const { files, at } = await seam(h);
  const target = await at("a");
  await files.writeText(target, "one");
  const signal = AbortSignal.abort(new Error("enough"));
  for (const call of [
    () => files.readText(target, { signal }),
    () => files.readBytes(target, { maxBytes: 5, signal }),
    () => all(files.streamText(target, { signal })),
    () => files.writeText(target, "x", { signal }),
    () => files.editText(target, [{ oldString: "one", newString: "x" }], { signal }),
  ]) {
    const error = await rejectsWith(call(), "FS_ABORTED");
    assert.equal(error.cause.message, "enough");
  }
  await rejectsWith(files.readText(target, { signal: 5 }), "FS_INVALID_OPTION");
  assert.equal((await files.readText(target)).text, "one");
});

test("closed with its session", async (t) => {
  const h = await withHost(t);
  const { files, at, session } = await seam(h);
  const target = await at("a");
  await session.close();
  await rejectsWith(files.stat(target), "FS_CLOSED");
  await rejectsWith(files.writeText(target, "x"), "FS_CLOSED");
});
