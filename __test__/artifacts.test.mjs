// Artifacts: what lies under /artifacts or was marked; their references, their listing, reading one by id or path.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { sha256 } from "./support/tree.mjs";

const plain = (value) => JSON.parse(JSON.stringify(value));

test("which writes give an artifact", async (t) => {
  const { files } = await withHost(t);
  assert.ok((await files.write("/artifacts/a.txt", "x")).artifact, "every file under /artifacts");
  assert.ok((await files.write("/artifacts/deep/er/a.txt", "x")).artifact);
  assert.equal(
    "artifact" in (await files.write("/artifacts/b.txt", "x", { artifact: false })),
    false,
    "unless told otherwise",
  );
  assert.equal("artifact" in (await files.write("/session/a.txt", "x")), false);
  assert.equal("artifact" in (await files.write("/session/a.txt", "x", { artifact: false })), false);
  assert.ok((await files.write("/session/b.txt", "x", { artifact: true })).artifact);
  assert.ok((await files.write("/session/c.txt", "x", { artifact: {} })).artifact);
  assert.ok((await files.writeText("/session/d.txt", "x", { artifact: true })).artifact);
  assert.ok((await files.writeJSON("/session/e.json", {}, { artifact: true })).artifact);
});

test("the reference: facts of the file, name, and whose metadata", async (t) => {
  const { files } = await withHost(t);
  const ref = await files.write("/session/r.csv", "a,b\n", {
    artifact: { name: "R", metadata: { of: "artifact" } },
    metadata: { of: "file" },
  });
  assert.deepEqual(plain(ref), {
    path: "/session/r.csv",
    bytes: 4,
    sha256: sha256("a,b\n"),
    mediaType: "text/csv",
    artifact: {
      id: ref.artifact.id,
      path: "/session/r.csv",
      bytes: 4,
      sha256: sha256("a,b\n"),
      mediaType: "text/csv",
      name: "R",
      metadata: { of: "artifact" },
    },
  });
  assert.equal(typeof ref.artifact.id, "string");
  assert.deepEqual(structuredClone(ref), plain(ref), "a plain object, absent fields absent");
  const byFlag = await files.write("/session/s.csv", "a", { artifact: true, metadata: { of: "file" } });
  assert.deepEqual(byFlag.artifact.metadata, { of: "file" });
  const byPlace = await files.write("/artifacts/s.csv", "a", { metadata: { of: "file" } });
  assert.deepEqual(byPlace.artifact.metadata, { of: "file" });
  const nameOnly = await files.write("/session/t.csv", "a", { artifact: { name: "T" }, metadata: { of: "file" } });
  assert.equal(nameOnly.artifact.name, "T");
});

test("the listing: marked files and all under /artifacts, each with its own facts", async (t) => {
  const { files, main, roots } = await withHost(t);
  assert.deepEqual(await main.artifacts.list(), []);
  const refs = [
    await files.write("/session/marked.txt", "1", { artifact: { name: "M" } }),
    await files.write("/artifacts/b/deep.json", "{}"),
    await files.write("/artifacts/a.txt", "2", { artifact: { metadata: { n: 2 } } }),
  ];
  await files.write("/session/not.txt", "3");
  fs.writeFileSync(path.join(roots.artifacts, "shell.bin"), "by a shell");
  fs.symlinkSync("a.txt", path.join(roots.artifacts, "link.txt"));
  const listed = (await main.artifacts.list()).map(plain);
  assert.deepEqual(listed.map((each) => each.path).sort(), [
    "/artifacts/a.txt",
    "/artifacts/b/deep.json",
    "/artifacts/shell.bin",
    "/session/marked.txt",
  ]);
  for (const ref of refs)
    assert.deepEqual(
      listed.find((each) => each.path === ref.path),
      plain(ref.artifact),
    );
  const shell = listed.find((each) => each.path === "/artifacts/shell.bin");
  assert.deepEqual([shell.bytes, shell.sha256], [10, sha256("by a shell")]);
  assert.equal(new Set(listed.map((each) => each.id)).size, listed.length, "ids differ");
  assert.deepEqual((await main.artifacts.list()).map(plain), listed, "the same each time");
});

test("reading one by id, by path, with the options of read", async (t) => {
  const { files, main } = await withHost(t);
  const ref = await files.write("/session/marked.txt", "content", { artifact: true });
  await files.write("/session/not.txt", "no artifact");
  await files.write("/artifacts/a.txt", "under the root");
  assert.equal((await main.artifacts.read(ref.artifact.id)).text(), "content");
  assert.equal((await main.artifacts.read("/session/marked.txt")).text(), "content");
  assert.equal((await main.artifacts.read("/artifacts/a.txt")).text(), "under the root");
  assert.equal((await main.artifacts.read("/artifacts/a.txt", { range: { start: 6, end: 9 } })).text(), "the");
  await rejectsWith(main.artifacts.read("/artifacts/a.txt", { maxBytes: 1 }), "FS_TOO_LARGE");
  await rejectsWith(main.artifacts.read("/artifacts/none.txt"), "FS_NOT_FOUND");
  await rejectsWith(main.artifacts.read("/artifacts/../session/not.txt"), "FS_INVALID_PATH");
  await rejectsWith(main.artifacts.read("/etc/passwd"), "FS_SANDBOX_DENIED");
  await rejectsWith(main.artifacts.read("no such id"), "FS_NOT_FOUND");
  for (const bad of [undefined, null, 7, {}]) await rejectsWith(main.artifacts.read(bad), "FS_INVALID_PATH");
});

test("replacing and removing", async (t) => {
  const { files, main } = await withHost(t);
  await files.write("/session/a.txt", "one", { artifact: { name: "A" } });
  await files.write("/session/a.txt", "two", { artifact: { name: "B" } });
  assert.deepEqual(
    (await main.artifacts.list()).map((each) => [each.name, each.sha256]),
    [["B", sha256("two")]],
  );
  await files.write("/session/a.txt", "three");
  assert.deepEqual(await main.artifacts.list(), []);
  await files.write("/session/tree/b.txt", "x", { artifact: true });
  await files.write("/artifacts/tree/c.txt", "x");
  await files.remove("/session/tree", { recursive: true });
  await files.remove("/artifacts/tree", { recursive: true });
  assert.deepEqual(await main.artifacts.list(), []);
});

test("options that make no sense", async (t) => {
  const { files, main } = await withHost(t);
  const cycle = {};
  cycle.self = cycle;
  for (const artifact of [
    "yes",
    7,
    [],
    { name: 7 },
    { metadata: "none" },
    { metadata: [] },
    { metadata: cycle },
    { metadata: { a: 1n } },
  ]) {
    await rejectsWith(files.write("/session/a.txt", "x", { artifact }), "FS_INVALID_OPTION");
  }
  await rejectsWith(
    files.write("/session/a.txt", "x", { metadata: { a: "x".repeat(65 * 1024) } }),
    "FS_INVALID_OPTION",
  );
  assert.deepEqual(await main.artifacts.list(), []);
  assert.deepEqual(await files.list("/session"), []);
});

test("metadata comes back as it was: any key, any JSON value", async (t) => {
  const { files, main } = await withHost(t);
  const metadata = JSON.parse(
    '{"__proto__":{"a":1},"constructor":null,"":[],"n":1.5e300,"text":"é📊\\u0000","deep":[[[{"x":false}]]],"password":"for the host"}',
  );
  const ref = await files.write("/session/a.txt", "x", { artifact: { metadata } });
  assert.deepEqual(plain(ref.artifact.metadata), metadata);
  assert.deepEqual(
    JSON.stringify((await main.artifacts.list())[0].metadata),
    JSON.stringify(metadata),
    "in its own order",
  );
});
