// localDir: a folder of the developer's that other programs use as well. See STORAGE.md, "localDir".
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localDir } from "@little-stack/files";
import { after, rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { tmpfs } from "./support/mounts.mjs";
import { holdLock, sleep } from "./support/process.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  DIR,
  filesOf,
  finish,
  inTurn,
  leavePending,
  pendingOf,
  shell,
  withDirs,
  withStore,
} from "./support/persistent/session.mjs";
import { newStore } from "./support/persistent/stores.mjs";
import { isRoot } from "./support/tree.mjs";

const mode = (file) => fs.statSync(file).mode & 0o7777;
const umask = process.umask();

async function local(t, files = {}, options = {}) {
  const store = await newStore("local")(t);
  for (const [name, text] of Object.entries(files)) store.write(name, text);
  const h = await withStore(t, store, options);
  return { ...h, store, source: store.source() };
}

/** A dir over any folder, with what a test needs of it. */
async function over(t, source, options = {}) {
  const h = await withDirs(t, [localDir({ harnessDir: DIR, sourceDir: source })], options);
  return { ...h, source };
}

// ── What other programs see of a commit ──

test("modes and owners of replaced files are kept, new ones are as a program would make them", async (t) => {
  const h = await local(t, { "run.sh": "old", "private.txt": "old", "shared.txt": "old", "sub/ro.txt": "old" });
  const real = (name) => path.join(h.source, name);
  const modes = { "run.sh": 0o755, "private.txt": 0o600, "shared.txt": 0o666, "sub/ro.txt": 0o444 };
  for (const [name, bits] of Object.entries(modes)) fs.chmodSync(real(name), bits);
  if (isRoot) fs.chownSync(real("private.txt"), 1234, 5678);
  const finished = await inTurn(h.main, async (files) => {
    for (const name of Object.keys(modes)) await files.write(at(name), "new");
    await files.write(at("made/deep/new.txt"), "new");
  });
  assertLanded(finished.persistence, { created: 1, updated: 4 });
  for (const [name, bits] of Object.entries(modes)) {
    assert.equal(fs.readFileSync(real(name), "utf8"), "new");
    assert.equal(mode(real(name)), bits, name);
  }
  if (isRoot) {
    const { uid, gid } = fs.statSync(real("private.txt"));
    assert.deepEqual([uid, gid], [1234, 5678]);
  }
  assert.equal(mode(real("made/deep/new.txt")), 0o666 & ~umask);
  for (const folder of ["made", "made/deep"]) assert.equal(mode(real(folder)), 0o777 & ~umask);
});

test("what is not changed is not touched", async (t) => {
  const h = await local(t, { "a.txt": "a", "sub/b.txt": "b", "c.txt": "c" });
  const facts = (name) => {
    const { ino, mtimeNs, ctimeNs } = fs.statSync(path.join(h.source, name), { bigint: true });
    return [ino, mtimeNs, ctimeNs];
  };
  const before = ["a.txt", "sub/b.txt"].map(facts);
  await inTurn(h.main, (files) => files.write(at("c.txt"), "new"));
  await inTurn(h.main);
  assert.deepEqual(["a.txt", "sub/b.txt"].map(facts), before);
});

test("after a commit the source holds the files, and nothing of how they came there", async (t) => {
  const h = await local(t, { "a.txt": "old", "gone.txt": "old" });
  for (let round = 0; round < 5; round++) {
    const finished = await inTurn(h.main, async (files) => {
      await files.write(at("a.txt"), `${round}`.repeat(50_000));
      await files.write(at(`new-${round}.txt`), "x".repeat(50_000));
      if (round === 0) await files.remove(at("gone.txt"));
    });
    assertLanded(finished.persistence);
  }
  assert.deepEqual(
    fs
      .readdirSync(h.source)
      .filter((name) => name !== ".little-harness")
      .sort(),
    ["a.txt", ...[0, 1, 2, 3, 4].map((n) => `new-${n}.txt`)],
  );
  const own = path.join(h.source, ".little-harness");
  if (!fs.existsSync(own)) return;
  assert.equal(mode(own), 0o700);
  const size = Number(execFileSync("du", ["-sb", own], { encoding: "utf8" }).split("\t")[0]);
  assert.ok(size < 40_000, `${size} bytes are left: ${execFileSync("find", [own], { encoding: "utf8" })}`);
});

test("a conflict in one file of many: none is applied", async (t) => {
  const names = Array.from({ length: 20 }, (_, n) => `${String(n).padStart(2, "0")}.txt`);
  for (const changed of [names[0], names[10], names[19]]) {
    const h = await local(t, Object.fromEntries(names.map((name) => [name, "base"])));
    const turn = await h.main.beginTurn();
    for (const name of names) await turn.files.write(at(name), "ours");
    await turn.files.write(at("new.txt"), "ours");
    h.store.write(changed, "theirs");
    assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
    assertHolds(h.store.read(), Object.fromEntries(names.map((name) => [name, name === changed ? "theirs" : "base"])));
    assert.deepEqual(await conflictsOf(h.main, ["base", "ours", "theirs"]), { [changed]: "base|ours|theirs" });
    assert.equal((await pendingOf(h.main)).length, 20);
    await h.close();
  }
});

test("a change by another program that keeps size and times is a conflict all the same", async (t) => {
  const h = await local(t, { "a.txt": "base" });
  const real = path.join(h.source, "a.txt");
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a.txt"), "ours");
  const { atime, mtime } = fs.statSync(real);
  fs.writeFileSync(real, "them");
  fs.utimesSync(real, atime, mtime);
  assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
  assert.equal(fs.readFileSync(real, "utf8"), "them");
});

test("a file that another program replaces by an equal one is no conflict", async (t) => {
  const h = await local(t, { "a.txt": "base", "b.txt": "base" });
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a.txt"), "ours");
  for (const name of ["a.txt", "b.txt"]) {
    fs.writeFileSync(path.join(h.source, `${name}.tmp`), "base");
    fs.renameSync(path.join(h.source, `${name}.tmp`), path.join(h.source, name));
  }
  assertLanded((await finish(turn)).persistence, { updated: 1 });
  assertHolds(h.store.read(), { "a.txt": "ours", "b.txt": "base" });
});

test("another dataDir, and another session, see what was committed", async (t) => {
  const h = await local(t, { "a.txt": "old" });
  await inTurn(h.main, (files) => files.write(at("a.txt"), "new"));
  const elsewhere = await withDirs(t, [h.store.dir({ harnessDir: DIR })]);
  assert.notEqual(elsewhere.dataDir, h.dataDir);
  assert.equal((await elsewhere.files.read(at("a.txt"))).text(), "new");
  await elsewhere.files.write(at("a.txt"), "from there");
  await inTurn(h.main, async (files) => assert.equal((await files.read(at("a.txt"))).text(), "from there"));
});

// ── The reserved name ──

test(".little-harness is neither loaded nor written nor committed", async (t) => {
  const h = await local(t, { "a.txt": "a", "sub/.little-harness/fine.txt": "a name like any other down here" });
  fs.mkdirSync(path.join(h.source, ".little-harness"), { recursive: true });
  fs.writeFileSync(path.join(h.source, ".little-harness/left.txt"), "left by whoever");
  await inTurn(h.main);
  assert.deepEqual(
    (await h.files.list(DIR, { recursive: true })).filter(({ kind }) => kind === "file").map((entry) => entry.path),
    [at("a.txt"), at("sub/.little-harness/fine.txt")],
  );
  for (const name of [".little-harness", ".little-harness/x", ".little-harness/deep/x"]) {
    const error = await h.files.write(at(name), "x").then(
      () => assert.fail(`${name} was written`),
      (thrown) => thrown,
    );
    assert.equal(error.code, "FS_SANDBOX_DENIED", error.message);
    assert.equal(error.reason, "outside_roots");
  }
  const { persistence } = await inTurn(h.main, () => {
    shell.write(h.checkout, ".little-harness/journal", "EVIL");
    shell.write(h.checkout, "fine.txt", "fine");
  });
  assert.ok(["succeeded", "failed"].includes(persistence.status));
  assert.equal(fs.existsSync(path.join(h.source, ".little-harness/journal")), false);
  assert.equal(h.store.read().get("fine.txt").toString(), "fine", "the rest lands");
});

test("a link in the place of .little-harness is not followed", async (t) => {
  const h = await local(t, { "a.txt": "old" });
  await h.files.list(DIR);
  fs.rmSync(path.join(h.source, ".little-harness"), { recursive: true, force: true });
  fs.symlinkSync(h.outside, path.join(h.source, ".little-harness"));
  const { persistence } = await inTurn(h.main, (files) => files.write(at("a.txt"), "new")).catch((error) => {
    assert.match(error.code, /^FS_/);
    return { persistence: { status: "failed" } };
  });
  assert.deepEqual(fs.readdirSync(h.outside), [], "nothing is written there");
  assert.equal(h.store.read().get("a.txt").toString(), persistence.status === "failed" ? "old" : "new");
});

// ── Sources that come and go ──

test("the first commit makes a missing source, with its parents", async (t) => {
  const base = tempDir(t);
  const source = path.join(base, "a/b/c");
  const h = await over(t, source, { base });
  assertLanded((await inTurn(h.main, (files) => files.write(at("deep/x.txt"), "x"))).persistence, { created: 1 });
  assertHolds(filesOf(source), { "deep/x.txt": "x" });
  assert.equal(mode(source), 0o777 & ~umask);
  assertLanded((await inTurn(h.main)).persistence, {});
});

const VANISHES = {
  deleted: (source) => {
    fs.rmSync(source, { recursive: true });
    return () => fs.mkdirSync(source);
  },
  "moved away": (source) => {
    fs.renameSync(source, `${source}.away`);
    return () => fs.renameSync(`${source}.away`, source);
  },
  "a file in its place": (source) => {
    fs.renameSync(source, `${source}.away`);
    fs.writeFileSync(source, "a file");
    return () => {
      fs.rmSync(source);
      fs.renameSync(`${source}.away`, source);
    };
  },
};

for (const [what, vanish] of Object.entries(VANISHES)) {
  test(`a source that vanished (${what}): loads fail, the checkout stays`, async (t) => {
    const h = await local(t, { "a.txt": "a", "b/c.txt": "c" });
    await inTurn(h.main);
    const comeBack = vanish(h.source);
    for (let round = 0; round < 2; round++) await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    assertHolds(filesOf(h.checkout), { "a.txt": "a", "b/c.txt": "c" });
    assert.deepEqual(await pendingOf(h.main), []);
    assert.equal((await h.files.read(at("a.txt"))).text(), "a");
    comeBack();
    if (what === "deleted") return;
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(h.store.read(), { "a.txt": "a", "b/c.txt": "c" });
  });

  test(`a source that vanished in the midst of a turn (${what}): the commit fails, all is pending`, async (t) => {
    const h = await local(t, { "a.txt": "a", "b.txt": "b" });
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a.txt"), "ours");
    await turn.files.remove(at("b.txt"));
    const comeBack = vanish(h.source);
    assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
    assert.deepEqual(await pendingOf(h.main), ["updated a.txt", "deleted b.txt"]);
    assert.equal(fs.existsSync(h.source), what === "a file in its place", "it is not made again");
    comeBack();
    if (what === "deleted") return;
    assertLanded(await h.persistence.commit(), { updated: 1, deleted: 1 });
    assertHolds(h.store.read(), { "a.txt": "ours" });
  });
}

test("a source that is gone for good can be begun anew, once it was discarded", async (t) => {
  const h = await local(t, { "a.txt": "a" });
  await leavePending(h.main, (files) => files.write(at("mine.txt"), "mine"));
  fs.rmSync(h.source, { recursive: true });
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  await h.persistence.discard({ harnessDirs: [DIR] });
  assert.deepEqual(await h.persistence.pending(), []);
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), {}));
  assertLanded((await inTurn(h.main, (files) => files.write(at("new.txt"), "new"))).persistence, { created: 1 });
  assertHolds(h.store.read(), { "new.txt": "new" });
});

test("an unmounted volume deletes nothing, neither there nor in the checkout's pending changes", async (t) => {
  const mount = tmpfs(t, "4m");
  if (mount === undefined) return;
  // The volume is mounted at `at`, a folder of its own, so that it can be taken away while the mount of the support stays.
  const where = path.join(tempDir(t), "volume");
  fs.mkdirSync(where);
  const bind = () => execFileSync("mount", ["--bind", mount, where]);
  const unbind = () => execFileSync("umount", [where]);
  bind();
  after(t, () => {
    try {
      execFileSync("umount", ["-l", where], { stdio: "pipe" });
    } catch {
      // it was not mounted
    }
  });
  for (const name of ["a.txt", "b/c.txt", "d.txt"]) shell.write(mount, name, name);
  for (const inside of ["", "sub"]) {
    await t.test(inside === "" ? "the source is the mount point" : "the source is below it", async (inner) => {
      if (inside) for (const name of ["a.txt", "b/c.txt", "d.txt"]) shell.write(path.join(mount, inside), name, name);
      const volume = path.join(mount, inside);
      const before = filesOf(volume);
      const h = await over(inner, path.join(where, inside));
      await inTurn(h.main);
      unbind();
      // Nothing pending: an empty folder is not one whose files were deleted.
      await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
      assert.deepEqual(await pendingOf(h.main), []);
      bind();
      assertLanded((await inTurn(h.main)).persistence, {});
      assertHolds(filesOf(volume), before);
      assertHolds(filesOf(h.checkout), before);
      // With changes pending: they wait for the volume.
      await leavePending(h.main, async (files) => {
        await files.write(at("a.txt"), "ours");
        await files.remove(at("d.txt"));
      });
      unbind();
      await rejectsWith(h.main.beginTurn(), inside === "" ? "FS_CONFLICT" : "FS_LOAD_FAILED"); // another source, or none
      const status = await h.persistence.commit();
      assert.equal(status.status, "failed");
      assert.deepEqual(fs.readdirSync(where), [], "nothing is written to what is under the mount");
      assert.deepEqual(await pendingOf(h.main), ["updated a.txt", "deleted d.txt"]);
      bind();
      assertLanded(await h.persistence.commit(), { updated: 1, deleted: 1 });
      const wanted = new Map(before).set("a.txt", Buffer.from("ours"));
      wanted.delete("d.txt");
      assertHolds(filesOf(volume), wanted);
      await h.close();
    });
  }
});

test("another folder at the same place is another source", async (t) => {
  const h = await local(t, { "a.txt": "a" });
  await leavePending(h.main, (files) => files.write(at("mine.txt"), "mine"));
  fs.renameSync(h.source, `${h.source}.old`);
  fs.mkdirSync(h.source);
  fs.writeFileSync(path.join(h.source, "other.txt"), "of another folder");
  await rejectsWith(h.main.beginTurn(), "FS_CONFLICT");
  assertFailed(await h.persistence.commit(), "FS_CONFLICT");
  assertHolds(filesOf(h.source), { "other.txt": "of another folder" });
  assert.deepEqual(await pendingOf(h.main), ["created mine.txt"]);
  // Without pending changes the checkout is that of the other folder.
  await h.persistence.discard({ harnessDirs: [DIR] });
  await inTurn(h.main);
  assertHolds(filesOf(h.checkout), { "other.txt": "of another folder" });
  assertHolds(filesOf(`${h.source}.old`), { "a.txt": "a" });
});

test("a projectDir or relative source that another program replaces by a link is refused", async (t) => {
  const base = tempDir(t);
  const h = await withDirs(t, [localDir({ harnessDir: DIR, sourceDir: "memories" })], { base });
  await h.files.write(at("a.txt"), "a");
  const real = path.join(h.dataDir, "memories");
  fs.renameSync(real, `${real}.away`);
  fs.symlinkSync(h.outside, real);
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  await rejectsWith(h.files.write(at("b.txt"), "b"), "FS_COMMIT_FAILED");
  assert.deepEqual(fs.readdirSync(h.outside), []);
  fs.rmSync(real);
  fs.renameSync(`${real}.away`, real);
  assertLanded(await h.persistence.commit(), { created: 1 });
  assertHolds(filesOf(real), { "a.txt": "a", "b.txt": "b" });
});

// ── Other file systems, other holders of the lock ──

test("a source on another file system", async (t) => {
  const source = tmpfs(t, "8m");
  if (source === undefined) return;
  shell.write(source, "a.txt", "old");
  const h = await over(t, source);
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("a.txt"), "new");
    await files.write(at("b/c.txt"), "new");
  });
  assertLanded(finished.persistence, { created: 1, updated: 1 });
  assertHolds(filesOf(source), { "a.txt": "new", "b/c.txt": "new" });
});

test("a full disk: nothing of the commit is applied, all is pending, and lands when there is room", async (t) => {
  const source = tmpfs(t, "1m");
  if (source === undefined) return;
  for (const name of ["a.txt", "b.txt"]) shell.write(source, name, "old");
  const h = await over(t, source);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a.txt"), "new");
  await turn.files.write(at("big.bin"), Buffer.alloc(2 << 20, "x"));
  await turn.files.remove(at("b.txt"));
  const error = assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
  assert.equal(error.cause?.code ?? error.osCode, error.cause ? "FS_NO_SPACE" : "ENOSPC");
  assertHolds(filesOf(source), { "a.txt": "old", "b.txt": "old" });
  assert.deepEqual(await pendingOf(h.main), ["updated a.txt", "deleted b.txt", "created big.bin"]);
  execFileSync("mount", ["-o", "remount,size=8m", source]);
  assertLanded(await h.persistence.commit(), { created: 1, updated: 1, deleted: 1 });
  assertHolds(filesOf(source), { "a.txt": "new", "big.bin": Buffer.alloc(2 << 20, "x") });
});

test("a source that cannot be written", async (t) => {
  const source = tmpfs(t, "1m");
  if (source === undefined) return;
  shell.write(source, "a.txt", "old");
  execFileSync("mount", ["-o", "remount,ro", source]);
  const h = await over(t, source);
  assert.equal((await h.files.read(at("a.txt"))).text(), "old", "it can be read all the same");
  const finished = await inTurn(h.main, (files) => files.write(at("a.txt"), "new"));
  assertFailed(finished.persistence, "FS_COMMIT_FAILED");
  assert.deepEqual(await pendingOf(h.main), ["updated a.txt"]);
  execFileSync("mount", ["-o", "remount,rw", source]);
  assertLanded(await h.persistence.commit(), { updated: 1 });
  assertHolds(filesOf(source), { "a.txt": "new" });
});

test(
  "loads and commits wait for another holder of the source's lock, and heed the signal",
  { timeout: 30_000 },
  async (t) => {
    const h = await local(t, { "a.txt": "old" });
    await inTurn(h.main);
    const holder = await holdLock(t, h.source);
    if (holder === undefined) return;
    await rejectsWith(h.main.beginTurn({ signal: AbortSignal.timeout(100) }), "FS_ABORTED");
    let begun = false;
    const beginning = h.main.beginTurn().then((turn) => {
      begun = true;
      return turn;
    });
    await sleep(150);
    assert.equal(begun, false, "it waits");
    await holder.release();
    const turn = await beginning;
    await turn.files.write(at("a.txt"), "new");
    const again = await holdLock(t, h.source);
    const finishing = finish(turn);
    assert.equal(await Promise.race([finishing.then(() => "finished"), sleep(150).then(() => "waits")]), "waits");
    await again.release();
    assertLanded((await finishing).persistence, { updated: 1 });
  },
);

test("two dirs of one host with sources of their own", async (t) => {
  const a = await newStore("local")(t);
  const b = await newStore("local")(t);
  const h = await withHost(t, {
    persistentDirs: [a.dir({ harnessDir: "/persistent/a" }), b.dir({ harnessDir: "/persistent/b" })],
  });
  const finished = await inTurn(h.main, async (files) => {
    await files.write("/persistent/a/x.txt", "in a");
    await files.write("/persistent/b/x.txt", "in b");
  });
  assertLanded(finished.persistence);
  assertHolds(a.read(), { "x.txt": "in a" });
  assertHolds(b.read(), { "x.txt": "in b" });
});
