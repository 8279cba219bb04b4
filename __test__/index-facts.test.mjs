// What a write said about a file (hash, media type, artifact marks) survives a restart, and ends when another program changes it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { sha256 } from "./support/tree.mjs";
import { sleep } from "./support/process.mjs";

const TYPE = "application/x-told-by-the-caller";
const told = {
  mediaType: TYPE,
  source: "user-message",
  artifact: { name: "Report", metadata: { page: 3, tags: ["a"] } },
};

/** stat, the listing's entry and read, which must agree with each other and with the bytes on the disk. */
async function look(files, name) {
  const stat = await files.stat(name);
  const entry = (await files.list(path.posix.dirname(name))).find((each) => each.path === name);
  const data = await files.read(name);
  assert.equal(data.sha256, sha256(data.content));
  for (const each of [stat, entry]) {
    assert.equal(each.kind, "file");
    assert.equal(each.bytes, data.bytes);
    if (each.sha256 !== undefined) assert.equal(each.sha256, data.sha256, "a hash that is shown is the file's own");
    if (each.artifact !== undefined) assert.equal(each.artifact.sha256, data.sha256);
  }
  return { stat, entry, data };
}

function assertTold({ stat, entry, data }, ref) {
  for (const each of [stat, entry]) {
    assert.equal(each.sha256, ref.sha256);
    assert.equal(each.mediaType, TYPE);
    assert.deepEqual({ ...each.artifact }, { ...ref.artifact });
    assert.ok(each.updatedAt instanceof Date && Math.abs(Date.now() - each.updatedAt) < 3_600_000);
  }
  assert.equal(data.sha256, ref.sha256);
  assert.equal(data.mediaType, TYPE);
}

function assertForgotten({ stat, entry, data }) {
  for (const each of [stat, entry]) {
    assert.notEqual(each.mediaType, TYPE);
    assert.equal(each.artifact, undefined);
  }
  assert.notEqual(data.mediaType, TYPE);
}

test("hash, media type and artifact marks are shown at once, later, and after a restart", async (t) => {
  const base = tempDir(t);
  const first = await withHost(t, { base });
  const ref = await first.files.write("/session/deep/er/report.bin", Buffer.from("content"), told);
  assert.equal(ref.artifact.name, "Report");
  assertTold(await look(first.files, ref.path), ref);
  await sleep(60);
  assertTold(await look(first.files, ref.path), ref);
  await first.close();
  const second = await withHost(t, { base });
  assertTold(await look(second.files, ref.path), ref);
  assert.deepEqual(structuredClone(await second.main.artifacts.list()), [structuredClone(ref.artifact)]);
  assert.equal((await second.main.artifacts.read(ref.artifact.id)).text(), "content");
  await second.close();
});

test("another handle and another host on the same folder see the same facts", async (t) => {
  const first = await withHost(t);
  const second = await withHost(t, { base: first.base });
  const ref = await first.files.write("/session/a.txt", "one", told);
  assertTold(await look(second.files, ref.path), ref);
  assertTold(await look((await first.session()).files, ref.path), ref);
  const next = await second.files.write("/session/a.txt", "two!", { mediaType: "text/csv" });
  const seen = await look(first.files, ref.path);
  assert.equal(seen.stat.sha256, next.sha256);
  assert.equal(seen.stat.mediaType, "text/csv");
  assert.equal(seen.stat.artifact, undefined, "a write without the mark ends it");
});

test("a write of ours replaces the facts, a remove ends them", async (t) => {
  const { files, main } = await withHost(t);
  await files.write("/session/a.bin", "one", told);
  await files.remove("/session/a.bin");
  await files.write("/session/a.bin", "one");
  assertForgotten(await look(files, "/session/a.bin"));
  await files.write("/session/tree/a.bin", "one", told);
  await files.remove("/session/tree", { recursive: true });
  assert.deepEqual(await main.artifacts.list(), []);
  await files.write("/session/tree/a.bin", "one");
  assertForgotten(await look(files, "/session/tree/a.bin"));
});

const changes = {
  "a rewrite of the same size": (file) => fs.writeFileSync(file, "CONTENT"),
  "a rewrite of the same size that restores the times": (file) => {
    const { atime, mtime } = fs.statSync(file);
    fs.writeFileSync(file, "CONTENT");
    fs.utimesSync(file, atime, mtime);
  },
  "another file renamed over it, with the same size and times": (file) => {
    const { atime, mtime } = fs.statSync(file);
    const other = `${file}.other`;
    fs.writeFileSync(other, "CONTENT");
    fs.utimesSync(other, atime, mtime);
    fs.renameSync(other, file);
  },
  "one byte more": (file) => fs.appendFileSync(file, "!"),
  "nothing left": (file) => fs.truncateSync(file, 0),
};

for (const [change, apply] of Object.entries(changes)) {
  for (const when of ["at once", "after it was looked at", "later", "after a restart"]) {
    test(`another program's change ends them: ${change}, ${when}`, async (t) => {
      const base = tempDir(t);
      let h = await withHost(t, { base });
      const ref = await h.files.write("/session/report.bin", "content", told);
      const onDisk = path.join(h.roots.session, "report.bin");
      if (when === "after it was looked at") assertTold(await look(h.files, ref.path), ref);
      if (when === "later") {
        await sleep(60);
        assertTold(await look(h.files, ref.path), ref);
      }
      if (when === "after a restart") {
        await h.close();
        apply(onDisk);
        h = await withHost(t, { base });
      } else {
        apply(onDisk);
      }
      const seen = await look(h.files, ref.path);
      assert.equal(seen.data.text(), fs.readFileSync(onDisk, "utf8"));
      assertForgotten(seen);
      assert.deepEqual(await h.main.artifacts.list(), []);
      await rejectsWith(h.files.write(ref.path, "mine", { ifMatch: ref.sha256 }), "FS_STALE_VERSION");
      await rejectsWith(h.files.remove(ref.path, { ifMatch: ref.sha256 }), "FS_STALE_VERSION");
      assert.equal((await h.files.read(ref.path)).sha256, seen.data.sha256, "a refused write left it");
      await h.close();
    });
  }
}

test("a file below /artifacts stays an artifact when another program changes it, without its old name", async (t) => {
  const { files, main, roots } = await withHost(t);
  const ref = await files.write("/artifacts/out.txt", "content", { artifact: { name: "Old" }, mediaType: TYPE });
  fs.writeFileSync(path.join(roots.artifacts, "out.txt"), "CONTENT");
  fs.writeFileSync(path.join(roots.artifacts, "new.txt"), "made by another program");
  const listed = await main.artifacts.list();
  assert.deepEqual(
    listed.map((each) => each.path),
    ["/artifacts/new.txt", "/artifacts/out.txt"],
  );
  for (const each of listed) {
    assert.equal(each.name, undefined);
    assert.notEqual(each.mediaType, TYPE);
    const onDisk = fs.readFileSync(path.join(roots.artifacts, path.basename(each.path)));
    assert.equal(each.sha256, sha256(onDisk), "an artifact's hash is that of its bytes");
    assert.equal(each.bytes, onDisk.length);
  }
  assert.notEqual(listed[1].sha256, ref.sha256);
});

test("a file that another program made has no facts until it is read, then the right hash", async (t) => {
  const { files, roots } = await withHost(t);
  fs.writeFileSync(path.join(roots.session, "shell.txt"), "made by a shell");
  const { stat, data } = await look(files, "/session/shell.txt");
  assert.equal(stat.artifact, undefined);
  assert.equal(data.text(), "made by a shell");
});

test("a moved time alone is not a change of the content: a guard on the hash still holds", async (t) => {
  const { files, roots } = await withHost(t);
  const ref = await files.write("/session/a.txt", "content");
  fs.utimesSync(path.join(roots.session, "a.txt"), 1, 1);
  const next = await files.write("/session/a.txt", "changed", { ifMatch: ref.sha256 });
  assert.equal((await files.read("/session/a.txt")).sha256, next.sha256);
});
