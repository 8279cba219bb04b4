// The seam below the file tools in Persistent Dirs: what is read is loaded first, what the host changes goes to the store at
// once, what a turn changes when it finishes.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localDir } from "@little-stack/files";
import { piExecutionFiles } from "@little-stack/files/pi";
import { fileTools, sessionFileSystem } from "@little-stack/files/tools";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";

const DIR = "/persistent/notes";

async function open(t, commit = "after-turn") {
  const source = path.join(tempDir(t), "notes");
  fs.mkdirSync(source);
  fs.writeFileSync(path.join(source, "a.md"), "one\n");
  const host = await withHost(t, { persistentDirs: [localDir({ harnessDir: DIR, sourceDir: source, commit })] });
  // A handle that is not watched: the seam takes only ours.
  const main = await host.host.sessions.getOrCreate({ id: "test" });
  return { ...host, main, stored: (name) => fs.readFileSync(path.join(source, name), "utf8") };
}

test("the seam loads a dir before it reads or lists it", async (t) => {
  const { main } = await open(t);
  const seam = sessionFileSystem(main);
  const found = await seam.readText(await seam.resolve(`${DIR}/a.md`));
  assert.equal(found.text, "one\n");
  const { main: other } = await open(t);
  const listed = await sessionFileSystem(other).listDir(await sessionFileSystem(other).resolve(DIR));
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["a.md"],
  );
});

test("what the host writes and edits by the seam is in the store at once", async (t) => {
  const { main, stored } = await open(t);
  const seam = sessionFileSystem(main);
  await seam.writeText(await seam.resolve(`${DIR}/b.md`), "two\n");
  assert.equal(stored("b.md"), "two\n");
  const target = await seam.resolve(`${DIR}/a.md`);
  await seam.editText(target, [{ oldString: "one", newString: "1" }]);
  assert.equal(stored("a.md"), "1\n");
  assert.deepEqual(await main.persistence.pending(), []);
});

test("what a tool changes in a turn is in the store when that finishes", async (t) => {
  const { main, stored } = await open(t);
  const turn = await main.beginTurn();
  const { read, edit } = turn.tools(fileTools());
  await read.execute({ file_path: `${DIR}/a.md` }, {});
  await edit.execute({ file_path: `${DIR}/a.md`, old_string: "one", new_string: "1" }, {});
  assert.equal(stored("a.md"), "one\n");
  const { persistence, files } = await turn.finish();
  assert.equal(persistence.status, "succeeded");
  assert.deepEqual(files.edited, [`${DIR}/a.md`]);
  assert.equal(stored("a.md"), "1\n");
});

test("a read-only dir is read, and refuses the seam", async (t) => {
  const { main, stored } = await open(t, "read-only");
  const seam = sessionFileSystem(main);
  const target = await seam.resolve(`${DIR}/a.md`);
  assert.equal((await seam.readText(target)).text, "one\n");
  await rejectsWith(seam.writeText(target, "x"), "FS_SANDBOX_DENIED");
  await rejectsWith(seam.editText(target, [{ oldString: "one", newString: "x" }]), "FS_SANDBOX_DENIED");
  assert.equal(stored("a.md"), "one\n");
});

test("pi's folders are made without a file in them, and never over one", async (t) => {
  const { main, events } = await open(t);
  const files = piExecutionFiles(main);
  const before = events.length;
  for (let n = 0; n < 2; n++) assert.deepEqual(await files.createDir("/session/a/b"), { ok: true, value: undefined });
  assert.equal((await files.fileInfo("/session/a/b")).value.kind, "directory");
  assert.equal(events.length, before, "a folder is no file to tell of");
  await main.files.write("/session/file", "x");
  assert.equal((await files.createDir("/session/file")).ok, false);
});
