// A power cut: after finish resolved every committed byte is on the disk and every pending change is listed with its content; a
// cut in the midst of a turn never has the next one replace a file of the store by an empty or cut one.
// An image is copied while it is mounted, and the copy looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localDir } from "@little-stack/files";
import { tagged, tagOf } from "./support/content.mjs";
import { tempDir } from "./support/host.mjs";
import { ext4 } from "./support/mounts.mjs";
import { DIR, roundOf, SIZE } from "./support/persistent/rounds.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  filesOf,
  finish,
  inTurn,
  leavePending,
  pendingOf,
  withDirs,
  withStore,
} from "./support/persistent/session.mjs";
import { newStore } from "./support/persistent/stores.mjs";
import { seeded, sleep, startChild } from "./support/process.mjs";

const SIZES = [0, 1, 100, 4096, 4097, 70_000];
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);

/** name → content, in folders, all different. */
function contents(count, tag) {
  const map = new Map();
  for (let n = 0; n < count; n++)
    map.set(
      `${n % 7}/${n % 3}/${n}.bin`,
      Buffer.concat([Buffer.from(`${tag}${n}`), tagged(tag, SIZES[n % SIZES.length])]),
    );
  return map;
}
const local = (source) => [localDir({ harnessDir: DIR, sourceDir: source })];

for (const [title, count] of [
  ["few files", 30],
  ["more than 256 files", 300],
]) {
  test(`localDir: what a turn committed is in the source (${title})`, { timeout: 180_000 }, async (t) => {
    const disk = ext4(t, 160);
    if (disk === undefined) return;
    const source = path.join(disk.folder, "source");
    const h = await withDirs(t, local(source), { base: disk.folder });
    const first = contents(count, "first");
    await inTurn(h.main, async (files) => {
      for (const [name, content] of first) await files.write(at(name), content);
    });
    const second = contents(count, "second");
    const wanted = new Map();
    const finished = await inTurn(h.main, async (files) => {
      for (const [n, [name, content]] of [...second].entries()) {
        if (n % 3 === 0) {
          await files.write(at(name), content);
          wanted.set(name, content);
        } else if (n % 3 === 1) {
          await files.remove(at(name));
        } else {
          wanted.set(name, first.get(name));
        }
      }
      await files.write(at("new/folders/here.txt"), "new");
      wanted.set("new/folders/here.txt", "new");
    });
    assertLanded(finished.persistence);
    const copy = disk.cut();
    if (copy === undefined) return;
    assertHolds(filesOf(path.join(copy, "source")), wanted, "the bytes are there, without the package");
    const again = await withDirs(t, local(path.join(copy, "source")), { base: copy });
    assert.deepEqual(await again.persistence.pending(), [], "what was told to have landed is not sent again");
    assert.deepEqual(await again.persistence.conflicts(), []);
    assertLanded((await inTurn(again.main)).persistence, {});
    assertHolds(filesOf(again.checkout), wanted);
    assertHolds(filesOf(path.join(copy, "source")), wanted);
    assert.equal(again.events.filter(({ type }) => type === "harness.index.rebuilt").length, 0);
    await again.close();
  });
}

for (const count of [30, 300]) {
  test(
    `after a finish whose commit failed, every change is listed with its content (${count} files)`,
    { timeout: 180_000 },
    async (t) => {
      const disk = ext4(t, 160);
      if (disk === undefined) return;
      const store = await newStore("cursor")(t); // elsewhere: it loses nothing
      for (const [name, content] of contents(count, "old")) store.write(name, content);
      const h = await withStore(t, store, { base: disk.folder });
      const turn = await h.main.beginTurn();
      const changed = contents(count, "new");
      for (const [n, [name, content]] of [...changed].entries()) {
        if (n % 3 === 0) await turn.files.write(at(name), content);
        if (n % 3 === 1) await turn.files.remove(at(name));
      }
      await turn.files.write(at("made/new.txt"), "new");
      // A shell of the sandbox leaves a file as well: finish flushes what its scan finds.
      fs.writeFileSync(path.join(h.checkout, "by-a-shell.txt"), "shell");
      store.fail(1, "before");
      assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
      const listed = await pendingOf(h.main);
      const checkout = filesOf(h.checkout);
      const copy = disk.cut();
      if (copy === undefined) return;
      const again = await withStore(t, store, { base: copy });
      assert.deepEqual(await pendingOf(again.main), listed);
      assertHolds(filesOf(again.checkout), checkout);
      assertLanded(await again.persistence.commit());
      assertHolds(store.read(), checkout);
      await again.close();
    },
  );
}

test("changes that an earlier turn left are still there after the next finish", { timeout: 120_000 }, async (t) => {
  const disk = ext4(t);
  if (disk === undefined) return;
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store, { base: disk.folder, commit: "manual" });
  await leavePending(h.main, (files) => files.write(at("aborted.txt"), "kept"));
  await inTurn(h.main, (files) => files.write(at("finished.txt"), "kept"));
  const copy = disk.cut();
  if (copy === undefined) return;
  const again = await withStore(t, store, { base: copy, commit: "manual" });
  assert.deepEqual(await pendingOf(again.main), ["created aborted.txt", "created finished.txt"]);
  assertLanded(await again.persistence.commit(), { created: 2 });
  assertHolds(store.read(), { "aborted.txt": "kept", "finished.txt": "kept" });
  await again.close();
});

for (const durability of ["turn", "write"]) {
  test(
    `durability ${durability}: a cut in mid-turn replaces nothing by an empty or cut file`,
    { timeout: 120_000 },
    async (t) => {
      const disk = ext4(t);
      if (disk === undefined) return;
      const store = await newStore("files")(t);
      const names = Array.from({ length: 40 }, (_, n) => `${n % 5}/${n}.bin`);
      for (const name of names) store.write(name, tagged("old", 30_000));
      const h = await withStore(t, store, { base: disk.folder, durability });
      await inTurn(h.main);
      const turn = await h.main.beginTurn();
      for (const [n, name] of names.entries()) {
        if (n % 4 === 0) await turn.files.write(at(name), tagged("new", 30_000));
        if (n % 4 === 1) {
          const stream = (async function* () {
            for (let part = 0; part < 3; part++) yield tagged("new", 10_000);
          })();
          await turn.files.write(at(name), stream);
        }
        if (n % 4 === 2) await turn.files.remove(at(name));
      }
      for (let n = 0; n < 10; n++) await turn.files.write(at(`made/${n}.bin`), tagged("new", 30_000));
      const copy = disk.cut();
      if (copy === undefined) return;
      await turn.abort();
      const again = await withStore(t, store, { base: copy, durability });
      assertLanded((await inTurn(again.main)).persistence);
      const states = {};
      for (const [name, bytes] of store.read()) {
        assert.equal(bytes.length, 30_000, `${name} has ${bytes.length} bytes`);
        const tag = tagOf(bytes);
        assert.ok(["old", "new"].includes(tag), `${name} is ${tag}`);
        states[tag] = (states[tag] ?? 0) + 1;
      }
      for (const [n, name] of names.entries()) if (n % 4 === 3) assert.equal(tagOf(store.read().get(name)), "old");
      t.diagnostic(JSON.stringify(states));
      assertHolds(filesOf(again.checkout), store.read());
      await again.close();
    },
  );
}

test("a cut just after a load: nothing of it is taken for a change of ours", { timeout: 120_000 }, async (t) => {
  const disk = ext4(t);
  if (disk === undefined) return;
  const store = await newStore("cursor")(t);
  for (let n = 0; n < 100; n++) store.write(`${n % 9}/${n}.bin`, tagged("old", 20_000));
  const h = await withStore(t, store, { base: disk.folder });
  await inTurn(h.main);
  for (let n = 0; n < 100; n += 2) store.write(`${n % 9}/${n}.bin`, tagged("newer", 20_000));
  for (let n = 1; n < 100; n += 10) store.remove(`${n % 9}/${n}.bin`);
  store.write("brand/new.bin", tagged("newer", 20_000));
  const held = store.read();
  const turn = await h.main.beginTurn();
  const copy = disk.cut();
  if (copy === undefined) return;
  await turn.abort();
  const again = await withStore(t, store, { base: copy });
  assert.deepEqual(await again.persistence.pending(), []);
  assert.deepEqual(await again.persistence.conflicts(), []);
  assertLanded((await inTurn(again.main)).persistence, {});
  assertHolds(store.read(), held);
  assertHolds(filesOf(again.checkout), held);
  await again.close();
});

test(`localDir: cuts in the midst of commits, all files or none (LF_SEED=${seed})`, { timeout: 240_000 }, async (t) => {
  const disk = ext4(t, 64);
  if (disk === undefined) return;
  const random = seeded(seed);
  const source = path.join(disk.folder, "source");
  const outcomes = [];
  let first = 0;
  for (let round = 0; round < 6; round++) {
    const child = startChild(t, "committing", [path.join(disk.folder, "data"), source, 30, first]);
    const wanted = first + 1;
    await child.line(`committing ${wanted}`);
    await sleep(random() * 60);
    // While it stands still nothing is written; what is in memory only is lost.
    child.kill("SIGSTOP");
    const copy = disk.cut();
    if (copy === undefined) return;
    const [, last] = child.out.stdout.trimEnd().split("\n").at(-1).split(" ").map(Number);
    const committed = child.out.stdout.trimEnd().split("\n").at(-1).startsWith("committed");
    child.kill("SIGKILL");
    await child.ended;
    for (const [name, bytes] of filesOf(path.join(copy, "source"))) assert.equal(bytes.length, SIZE, `${name} is cut`);
    const other = await withDirs(t, local(path.join(copy, "source")), { base: tempDir(t) });
    await inTurn(other.main);
    const seen = roundOf(filesOf(path.join(copy, "source")), 30, "after the cut");
    assert.ok(
      committed ? seen === last : [last - 1, last].includes(seen),
      `${seen} of ${last}, committed: ${committed}`,
    );
    assertHolds(filesOf(other.checkout), filesOf(path.join(copy, "source")));
    await other.close();
    outcomes.push(`${last}${committed ? " committed" : ""}: ${seen}`);
    first = last + 1;
  }
  t.diagnostic(outcomes.join(", "));
});

test(
  "localDir: after a reboot the volume may have another device number; pending changes still land",
  { timeout: 120_000 },
  async (t) => {
    const disk = ext4(t);
    if (disk === undefined) return;
    const source = path.join(disk.folder, "source");
    fs.mkdirSync(source);
    fs.writeFileSync(path.join(source, "a.txt"), "old");
    execFileSync("sync", ["-f", path.join(source, "a.txt")]);
    const h = await withDirs(t, local(source), { base: disk.folder });
    await inTurn(h.main);
    await leavePending(h.main, (files) => files.write(at("a.txt"), "ours"));
    await h.main.flush();
    await h.close();
    const copy = disk.cut();
    if (copy === undefined) return;
    // The copy takes the place of the disk: the same paths and inodes, on another device.
    execFileSync("umount", [disk.folder]);
    execFileSync("mount", ["--bind", copy, disk.folder]);
    const again = await withDirs(t, local(source), { base: disk.folder });
    assert.deepEqual(await pendingOf(again.main), ["updated a.txt"]);
    assertLanded(await again.persistence.commit(), { updated: 1 });
    assertHolds(filesOf(source), { "a.txt": "ours" });
    await again.close();
  },
);
