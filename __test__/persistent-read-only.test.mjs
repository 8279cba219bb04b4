// A read-only dir is not changed through the package: not by a write, not by a remove, not by the remove of a folder above it.
// Nor can the root of any dir be removed. See DESIGN section 3.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { harnessToolContext } from "@little-stack/files";
import { rejectsWith } from "./support/host.mjs";
import { assertHolds, finish, withDirs } from "./support/persistent/session.mjs";
import { newStore } from "./support/persistent/stores.mjs";
import { rootsSnapshot } from "./support/tree.mjs";
import { toolOf } from "./support/turns.mjs";

const RO = "/persistent/policies";
const DEEP = "/persistent/team/handbook";
const RW = "/persistent/team/notes";
const READ_ONLY = { reason: "read_only", message: /read-only/ };

async function three(t, kind) {
  const stores = {};
  const dirs = [];
  for (const [harnessDir, commit] of [
    [RO, "read-only"],
    [DEEP, "read-only"],
    [RW, "after-turn"],
  ]) {
    const store = await newStore(kind)(t);
    store.write("a.txt", `a of ${harnessDir}`);
    store.write("sub/b.txt", `b of ${harnessDir}`);
    stores[harnessDir] = store;
    dirs.push(store.dir({ harnessDir, commit }));
  }
  const h = await withDirs(t, dirs);
  await (await h.main.beginTurn()).abort(); // all are loaded
  return { ...h, stores };
}

/** Nothing changed: not the checkouts, not the stores. */
function pictures(h) {
  return JSON.stringify([
    rootsSnapshot(h.roots),
    Object.values(h.stores).map((store) => [...store.read()].map(([name, bytes]) => [name, bytes.toString()])),
  ]);
}

const heldBy = (h) => JSON.stringify(Object.values(h.stores).map((store) => Array.from(store.read())));

for (const kind of ["local", "cursor", "files"]) {
  test(`${kind}: no write, no remove, inside a turn or outside`, async (t) => {
    const h = await three(t, kind);
    const before = pictures(h);
    const turn = await h.main.beginTurn();
    for (const files of [h.files, turn.files]) {
      for (const root of [RO, DEEP]) {
        for (const name of ["a.txt", "new.txt", "sub/b.txt", "new/deep/x.txt", "a.txt/x"]) {
          const path = `${root}/${name}`;
          await rejectsWith(files.write(path, "x"), "FS_SANDBOX_DENIED", READ_ONLY);
          await rejectsWith(files.writeText(path, "x"), "FS_SANDBOX_DENIED", READ_ONLY);
          await rejectsWith(files.writeJSON(path, {}, { artifact: true }), "FS_SANDBOX_DENIED", READ_ONLY);
          const stream = (async function* () {
            yield "x";
          })();
          await rejectsWith(files.write(path, stream), "FS_SANDBOX_DENIED", READ_ONLY);
        }
        for (const options of [undefined, { recursive: true }, { recursive: true, force: true }]) {
          await rejectsWith(files.remove(`${root}/a.txt`, options), "FS_SANDBOX_DENIED", READ_ONLY);
          await rejectsWith(files.remove(`${root}/sub`, options), "FS_SANDBOX_DENIED", READ_ONLY);
        }
        assert.equal((await files.read(`${root}/a.txt`)).text(), `a of ${root}`, "it is read");
      }
    }
    const tool = toolOf(turn, (_, options) => harnessToolContext(options).files.write(`${RO}/a.txt`, "by a tool"));
    await rejectsWith(tool(), "FS_SANDBOX_DENIED", READ_ONLY);
    await finish(turn);
    assert.equal(pictures(h), before);
  });

  test(`${kind}: no remove of a root, nor of a folder above one`, async (t) => {
    const h = await three(t, kind);
    const before = pictures(h);
    const turn = await h.main.beginTurn();
    for (const files of [h.files, turn.files]) {
      for (const path of [
        "/persistent",
        "/persistent/",
        "/persistent/team",
        "/persistent/team/",
        RW,
        `${RW}/`,
        RO,
        DEEP,
      ]) {
        for (const options of [undefined, { recursive: true }, { recursive: true, force: true }])
          await rejectsWith(files.remove(path, options), "FS_SANDBOX_DENIED");
      }
      for (const path of ["/persistent", "/persistent/team", RO, DEEP, RW])
        await rejectsWith(files.write(path, "x"), "FS_SANDBOX_DENIED");
    }
    await finish(turn);
    assert.equal(pictures(h), before);
    // What is in a dir that is no read-only one can be removed, all of it.
    await h.files.remove(`${RW}/sub`, { recursive: true });
    await h.files.remove(`${RW}/a.txt`);
    assertHolds(h.stores[RW].read(), {});
    assert.ok(fs.existsSync(h.roots.persistent[RW]), "the root stays");
  });

  test(`${kind}: deleting the session leaves the stores alone`, async (t) => {
    const h = await three(t, kind);
    const held = heldBy(h);
    await h.main.close();
    await h.sessions.delete("test");
    assert.equal(heldBy(h), held);
    const again = await h.session();
    assert.equal((await again.files.read(`${RO}/a.txt`)).text(), `a of ${RO}`);
    assert.equal((await again.files.read(`${RW}/a.txt`)).text(), `a of ${RW}`);
  });
}
