// Links, FIFOs and odd names in a checkout are never followed, loaded or sent; one that stands where a file was deletes nothing.
// See STORAGE.md, "Checkout".
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, tempDir } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  finish,
  inTurn,
  shell,
  withDirs,
  withStore,
} from "./support/persistent/session.mjs";
import { newStore } from "./support/persistent/stores.mjs";
import { device, fifo, isRoot, link, plant, socket } from "./support/tree.mjs";

const SPECIAL = {
  "a link to a file": (h, outside) => link(path.join(outside, "secret.txt")),
  "a link to a folder": (h, outside) => link(outside),
  "a link inside": () => link("kept.txt"),
  "a dangling link": () => link("nowhere"),
  "a FIFO": () => fifo(),
  "a socket": () => socket(),
  ...(isRoot && { "a device": () => device() }),
};

/** A file below so many folders of one name, as a shell makes it: step by step. */
function dig(folder, depth, name) {
  const script = `for i in $(seq ${depth}); do mkdir ${name}; cd ${name}; done; echo deep > file`;
  execFileSync("bash", ["-c", script], { cwd: folder });
}

function outsideOf(t) {
  const outside = tempDir(t);
  fs.writeFileSync(path.join(outside, "secret.txt"), "SECRET");
  fs.mkdirSync(path.join(outside, "sub"));
  fs.writeFileSync(path.join(outside, "sub/inner.txt"), "SECRET");
  return outside;
}

for (const kind of ["local", "cursor", "files"]) {
  for (const [what, make] of Object.entries(SPECIAL)) {
    test(`${kind}: ${what} that is new is left alone, the rest lands`, { timeout: 30_000 }, async (t) => {
      const outside = outsideOf(t);
      const store = await newStore(kind)(t);
      store.write("kept.txt", "kept");
      const h = await withStore(t, store);
      const finished = await inTurn(h.main, () => {
        plant(h.checkout, { special: make(h, outside), "deep/special": make(h, outside) });
        shell.write(h.checkout, "fine.txt", "fine");
      });
      assertLanded(finished.persistence, { created: 1 });
      assertHolds(store.read(), { "kept.txt": "kept", "fine.txt": "fine" });
      assert.deepEqual(await h.persistence.pending(), []);
      assert.ok(fs.lstatSync(path.join(h.checkout, "special")), "it is still there");
      assertLanded((await inTurn(h.main)).persistence, {});
    });

    test(`${kind}: ${what} where a file was deletes nothing; the rest lands`, { timeout: 30_000 }, async (t) => {
      const outside = outsideOf(t);
      const store = await newStore(kind)(t);
      store.write("kept.txt", "kept");
      store.write("base.txt", "base");
      store.write("deep/base.txt", "base");
      const h = await withStore(t, store);
      const turn = await h.main.beginTurn();
      for (const name of ["base.txt", "deep/base.txt"]) {
        fs.rmSync(path.join(h.checkout, name));
        plant(h.checkout, { [name]: make(h, outside) });
      }
      await turn.files.write(at("fine.txt"), "fine");
      const { persistence } = await finish(turn);
      assertFailed(persistence, "FS_NOT_REGULAR_FILE");
      const wanted = { "kept.txt": "kept", "base.txt": "base", "deep/base.txt": "base", "fine.txt": "fine" };
      assertHolds(store.read(), wanted, "no file of the store is gone, and the rest was sent");
      const pending = await h.persistence.pending();
      assert.deepEqual(pending.map((each) => each.path).sort(), [at("base.txt"), at("deep/base.txt")]);
      for (const each of pending) assert.equal(each.lastError?.code, "FS_NOT_REGULAR_FILE");
      // It stays so, through loads as well; then the file is put back.
      assertFailed((await inTurn(h.main)).persistence, "FS_NOT_REGULAR_FILE");
      assertHolds(store.read(), wanted);
      await h.persistence.discard({ paths: [at("base.txt")] });
      assert.equal((await h.files.read(at("base.txt"))).text(), "base");
      fs.rmSync(path.join(h.checkout, "deep/base.txt"));
      shell.write(h.checkout, "deep/base.txt", "a file again");
      assertLanded(await h.persistence.commit(), { updated: 1 });
      assertHolds(store.read(), { ...wanted, "deep/base.txt": "a file again" });
    });
  }

  test(`${kind}: a link where a folder of files was deletes nothing`, async (t) => {
    const outside = outsideOf(t);
    const store = await newStore(kind)(t);
    for (const name of ["sub/a.txt", "sub/b/c.txt", "kept.txt"]) store.write(name, name);
    const h = await withStore(t, store);
    const held = store.read();
    const turn = await h.main.beginTurn();
    fs.rmSync(path.join(h.checkout, "sub"), { recursive: true });
    fs.symlinkSync(outside, path.join(h.checkout, "sub"));
    assertFailed((await finish(turn)).persistence, "FS_NOT_REGULAR_FILE");
    assertHolds(store.read(), held);
    assertFailed((await inTurn(h.main)).persistence, "FS_NOT_REGULAR_FILE");
    assertHolds(store.read(), held);
    assert.deepEqual(fs.readdirSync(outside).sort(), ["secret.txt", "sub"], "nothing was written through it");
  });

  test(`${kind}: what the store changes under a link stays out`, async (t) => {
    const outside = outsideOf(t);
    const store = await newStore(kind)(t);
    store.write("sub/inner.txt", "base");
    const h = await withStore(t, store);
    await inTurn(h.main);
    fs.rmSync(path.join(h.checkout, "sub"), { recursive: true });
    fs.symlinkSync(outside, path.join(h.checkout, "sub"));
    fs.symlinkSync(path.join(outside, "secret.txt"), path.join(h.checkout, "secret.txt"));
    store.write("sub/inner.txt", "theirs");
    store.write("sub/new.txt", "theirs");
    store.write("secret.txt", "theirs");
    await h.main.beginTurn().then(
      (turn) => turn.finish(),
      (error) => assert.match(error.code, /^FS_/),
    );
    assert.equal(fs.readFileSync(path.join(outside, "secret.txt"), "utf8"), "SECRET");
    assert.deepEqual(fs.readdirSync(outside).sort(), ["secret.txt", "sub"]);
    assert.deepEqual(fs.readdirSync(path.join(outside, "sub")), ["inner.txt"]);
    assert.equal(fs.readFileSync(path.join(outside, "sub/inner.txt"), "utf8"), "SECRET");
    assert.equal(store.read().get("sub/inner.txt").toString(), "theirs");
  });

  test(`${kind}: names that no path can hold are not sent, and delete nothing`, async (t) => {
    const store = await newStore(kind)(t);
    store.write("kept.txt", "kept");
    store.write("renamed.txt", "base");
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    const raw = (name) => Buffer.concat([Buffer.from(`${h.checkout}/`), name]);
    fs.writeFileSync(raw(Buffer.from([0x66, 0xff, 0xfe])), "not UTF-8");
    fs.writeFileSync(raw(Buffer.from("back\\slash")), "x");
    fs.writeFileSync(raw(Buffer.from("line\nend")), "x");
    fs.mkdirSync(raw(Buffer.from("od\\d")));
    fs.writeFileSync(raw(Buffer.from("od\\d/inner.txt")), "x");
    fs.writeFileSync(path.join(h.checkout, "fine.txt"), "fine");
    const { persistence } = await finish(turn);
    assertFailed(persistence, "FS_INVALID_PATH");
    assertHolds(store.read(), { "kept.txt": "kept", "renamed.txt": "base", "fine.txt": "fine" });
    const pending = await h.persistence.pending();
    assert.ok(pending.length >= 3, JSON.stringify(pending));
    for (const each of pending) assert.equal(each.lastError?.code, "FS_INVALID_PATH");
    for (const name of fs.readdirSync(Buffer.from(h.checkout), { encoding: "buffer" }))
      if (!/^[a-z.]+$/.test(name.toString())) fs.rmSync(raw(name), { recursive: true });
    assertLanded((await inTurn(h.main)).persistence, {});
    assert.deepEqual(await h.persistence.pending(), []);
  });

  test(`${kind}: a name that no path can hold can be given up`, async (t) => {
    const store = await newStore(kind)(t);
    const h = await withStore(t, store);
    await inTurn(h.main, (files) => files.write(at("kept"), "kept"));
    const raw = (...parts) => Buffer.concat([`${h.checkout}/`, ...parts].map((part) => Buffer.from(part)));
    const odd = [0x66, 0xff];
    fs.writeFileSync(raw(odd), "not UTF-8");
    fs.writeFileSync(raw("back\\slash"), "x");
    fs.mkdirSync(raw([0xfe]));
    fs.writeFileSync(raw([0xfe], "/", odd), "not UTF-8");
    assert.equal((await h.persistence.pending()).length, 3);
    await h.persistence.discard({ paths: [at("f\ufffd")] });
    assert.equal((await h.persistence.pending()).length, 2);
    await h.persistence.discard({ harnessDirs: [DIR] });
    assert.deepEqual(await h.persistence.pending(), []);
    fs.rmdirSync(raw([0xfe])); // empty, which is no content
    assertHolds(filesOf(h.checkout), { kept: "kept" });
    assertLanded((await inTurn(h.main)).persistence, {});
  });

  test(`${kind}: files deeper than a path can be are pending and not sent; the rest lands`, async (t) => {
    // With the two segments of the dir: 128 is the deepest, and 4,096 bytes the longest.
    const dug = {
      fits: [125, "d"],
      "one too deep": [126, "e"],
      "far too deep": [300, "f"],
      "too long": [16, "l".repeat(255)],
    };
    const store = await newStore(kind)(t);
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    for (const [depth, name] of Object.values(dug)) dig(h.checkout, depth, name);
    shell.write(h.checkout, "fine.txt", "fine");
    assertFailed((await finish(turn)).persistence, "FS_INVALID_PATH");
    const wanted = { "fine.txt": "fine", [`${"d/".repeat(125)}file`]: "deep\n" };
    assertHolds(store.read(), wanted);
    const pending = await h.persistence.pending();
    assert.deepEqual(
      pending.map(({ path: file, attempts, lastError }) => [file.slice(DIR.length)[1], attempts, lastError.code]),
      [
        ["e", 1, "FS_INVALID_PATH"],
        ["f", 1, "FS_INVALID_PATH"],
        ["l", 1, "FS_INVALID_PATH"],
      ],
    );
    // Others can load what was sent; and a lost database is no trap.
    const other = await h.again({ dataDir: path.join(h.base, "other-data") });
    assert.equal((await inTurn(other.main)).persistence.status, "succeeded");
    assertHolds(filesOf(other.checkout), wanted);
    await other.close();
    await h.close();
    fs.rmSync(path.join(h.dataDir, "harness.db"));
    const again = await h.again();
    await again.main.beginTurn().then((turn_) => turn_.abort());
    assert.equal((await again.main.persistence.conflicts()).length, 3, "as all that the store does not hold");
    await again.main.persistence.discard({ harnessDirs: [DIR] });
    assert.deepEqual(await again.main.persistence.pending(), []);
    assertLanded((await inTurn(again.main)).persistence, {});
    assertHolds(store.read(), wanted);
  });

  test(`${kind}: a checkout that was deleted, or is a link, deletes nothing`, async (t) => {
    const outside = outsideOf(t);
    const ways = {
      gone: (real) => fs.rmSync(real, { recursive: true }),
      "a link": (real) => {
        fs.rmSync(real, { recursive: true });
        fs.symlinkSync(outside, real);
      },
      "a file": (real) => {
        fs.rmSync(real, { recursive: true });
        fs.writeFileSync(real, "a file");
      },
    };
    for (const [what, spoil] of Object.entries(ways)) {
      const store = await newStore(kind)(t);
      for (const name of ["a.txt", "b/c.txt"]) store.write(name, name);
      const h = await withStore(t, store);
      await inTurn(h.main);
      const turn = await h.main.beginTurn();
      spoil(h.checkout);
      await turn.finish().then(
        () => {},
        (error) => assert.match(error.code, /^FS_/),
      );
      await h.main.beginTurn().then(
        (next) => next.finish(),
        (error) => assert.match(error.code, /^FS_/),
      );
      assertHolds(store.read(), { "a.txt": "a.txt", "b/c.txt": "b/c.txt" }, what);
      assert.deepEqual(fs.readdirSync(outside).sort(), ["secret.txt", "sub"]);
      await h.close();
    }
  });
}

// ── Containment: one dir is not a way into another ──

test("localDir: files of the source that are deeper than a path can be are left out", async (t) => {
  const store = await newStore("local")(t);
  store.write("fine.txt", "fine");
  const h = await withStore(t, store);
  for (const [depth, name] of [
    [125, "d"],
    [126, "e"],
    [300, "f"],
    [16, "l".repeat(255)],
  ])
    dig(store.source(), depth, name);
  assertLanded((await inTurn(h.main, (files) => files.write(at("new.txt"), "new"))).persistence, { created: 1 });
  assert.deepEqual([...filesOf(h.checkout).keys()].sort(), [`${"d/".repeat(125)}file`, "fine.txt", "new.txt"]);
  const loaded = h.events.find(({ type }) => type === "harness.persistent_dir.loaded");
  assert.deepEqual([loaded.metadata.fileCount, loaded.metadata.skipped], [2, 3]);
});

for (const [what, make] of Object.entries(SPECIAL)) {
  test(`localDir: ${what} in the source is left alone; what it hides stays, changes of ours wait, the rest lands`, async (t) => {
    const outside = outsideOf(t);
    const store = await newStore("local")(t);
    const source = store.source();
    for (const name of ["changed", "deleted", "same", "sub/changed", "sub/deleted", "sub/same"])
      store.write(name, name);
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    for (const name of ["changed", "deleted", "same", "sub"]) fs.rmSync(path.join(source, name), { recursive: true });
    const special = make(h, outside);
    plant(source, { changed: special, deleted: special, same: special, sub: special, new: special });
    const held = fs.readdirSync(source).sort();
    await turn.files.write(at("changed"), "ours");
    await turn.files.remove(at("deleted"));
    await turn.files.write(at("sub/changed"), "ours");
    await turn.files.remove(at("sub/deleted"));
    await turn.files.write(at("sub/new"), "ours");
    await turn.files.write(at("new"), "ours");
    await turn.files.write(at("fine"), "fine");
    const { persistence } = await finish(turn);
    const error = assertFailed(persistence, "FS_NOT_REGULAR_FILE");
    const waiting = ["changed", "deleted", "new", "sub/changed", "sub/deleted", "sub/new"];
    assert.deepEqual(error.details.paths, waiting.map(at));
    assert.deepEqual(persistence.commits[0].changes, { created: 1, updated: 0, deleted: 0 });
    for (let turns = 0; turns < 2; turns++) {
      const pending = await h.persistence.pending();
      assert.deepEqual(pending.map((each) => each.path).sort(), waiting.map(at));
      for (const each of pending) assert.equal(each.lastError.code, "FS_NOT_REGULAR_FILE");
      const stays = { same: "same", "sub/same": "sub/same", changed: "ours", "sub/changed": "ours" };
      assertHolds(filesOf(h.checkout), { ...stays, "sub/new": "ours", new: "ours", fine: "fine" });
      assert.deepEqual(fs.readdirSync(source).sort(), [".little-harness", "fine", ...held].sort());
      assertFailed((await inTurn(h.main)).persistence, "FS_NOT_REGULAR_FILE");
    }
    await rejectsWith(h.files.write(at("sub/host"), "x"), "FS_COMMIT_FAILED");
    assert.deepEqual(fs.readdirSync(outside).sort(), ["secret.txt", "sub"], "nothing was written through it");
    // Given up, nothing of it is left; or it lands, once the place is free.
    await h.persistence.discard({ paths: [...waiting, "sub/host"].filter((name) => name !== "changed").map(at) });
    assert.deepEqual(
      (await h.persistence.pending()).map((each) => each.path),
      [at("changed")],
    );
    fs.rmSync(path.join(source, "changed"));
    store.write("changed", "changed");
    assertLanded((await inTurn(h.main)).persistence, { updated: 1 });
    assert.equal(store.read().get("changed").toString(), "ours");
  });
}

test("links from one dir into another are refused, relative or absolute", async (t) => {
  const stores = {};
  const dirs = [];
  for (const [harnessDir, commit] of [
    ["/persistent/a", "after-turn"],
    ["/persistent/b", "after-turn"],
    ["/persistent/locked", "read-only"],
  ]) {
    stores[harnessDir] = await newStore("cursor")(t);
    stores[harnessDir].write("file.txt", harnessDir);
    stores[harnessDir].write("sub/inner.txt", harnessDir);
    dirs.push(stores[harnessDir].dir({ harnessDir, commit }));
  }
  const h = await withDirs(t, dirs);
  await inTurn(h.main);
  const real = h.roots.persistent;
  const to = (harnessDir) => path.relative(real["/persistent/a"], real[harnessDir]);
  plant(real["/persistent/a"], {
    "rel-dir": link(to("/persistent/b")),
    "rel-file": link(`${to("/persistent/b")}/file.txt`),
    "abs-dir": link(real["/persistent/b"]),
    "abs-file": link(path.join(real["/persistent/b"], "file.txt")),
    "locked-dir": link(to("/persistent/locked")),
    "locked-file": link(`${to("/persistent/locked")}/file.txt`),
    "to-session": link(path.relative(real["/persistent/a"], h.roots.session)),
    "inside-dir": link("sub"),
    "inside-file": link("file.txt"),
    up: link(".."),
  });
  fs.writeFileSync(path.join(h.roots.session, "s.txt"), "session");
  const denied = { reason: "symlink" };
  for (const name of ["rel-dir", "abs-dir", "locked-dir", "to-session", "up"]) {
    for (const below of ["file.txt", "sub/inner.txt", "s.txt", "b/file.txt", "new.txt"]) {
      await rejectsWith(h.files.read(`/persistent/a/${name}/${below}`), "FS_SANDBOX_DENIED", denied);
      await rejectsWith(h.files.write(`/persistent/a/${name}/${below}`, "EVIL"), "FS_SANDBOX_DENIED", denied);
      await rejectsWith(h.files.remove(`/persistent/a/${name}/${below}`), "FS_SANDBOX_DENIED", denied);
    }
    await rejectsWith(h.files.list(`/persistent/a/${name}`), "FS_SANDBOX_DENIED", denied);
  }
  for (const name of ["rel-file", "abs-file", "locked-file"]) {
    await rejectsWith(h.files.read(`/persistent/a/${name}`), "FS_SANDBOX_DENIED", denied);
    await rejectsWith(h.files.write(`/persistent/a/${name}`, "EVIL"), "FS_SANDBOX_DENIED", denied);
  }
  // Inside the same dir a relative link is followed by reads, and by nothing else.
  assert.equal((await h.files.read("/persistent/a/inside-file")).text(), "/persistent/a");
  assert.equal((await h.files.read("/persistent/a/inside-dir/inner.txt")).text(), "/persistent/a");
  await rejectsWith(h.files.write("/persistent/a/inside-file", "EVIL"), "FS_SANDBOX_DENIED", denied);
  // And from another root there is no way in.
  plant(h.roots.session, { "to-persistent": link(path.relative(h.roots.session, real["/persistent/locked"])) });
  await rejectsWith(h.files.read("/session/to-persistent/file.txt"), "FS_SANDBOX_DENIED", denied);
  await rejectsWith(h.files.write("/session/to-persistent/file.txt", "EVIL"), "FS_SANDBOX_DENIED", denied);
  for (const [harnessDir, store] of Object.entries(stores))
    assertHolds(store.read(), { "file.txt": harnessDir, "sub/inner.txt": harnessDir });
});

test(
  "links and special files in a localDir's source are not loaded, and not touched",
  { timeout: 30_000 },
  async (t) => {
    const outside = outsideOf(t);
    const store = await newStore("local")(t);
    store.write("real.txt", "real");
    const source = store.source();
    plant(source, {
      "link.txt": link(path.join(outside, "secret.txt")),
      "folder-link": link(outside),
      "inside-link": link("real.txt"),
      fifo: fifo(),
      socket: socket(),
    });
    const before = execFileSync("ls", ["-la", source], { encoding: "utf8" }).split("\n").slice(2).join("\n");
    const h = await withStore(t, store);
    await inTurn(h.main);
    assertHolds(new Map([["real.txt", fs.readFileSync(path.join(h.checkout, "real.txt"))]]), { "real.txt": "real" });
    assert.deepEqual(fs.readdirSync(h.checkout), ["real.txt"]);
    const after = execFileSync("ls", ["-la", source], { encoding: "utf8" }).split("\n").slice(2);
    assert.deepEqual(
      after.filter((line) => !/ (\.\.?|\.little-harness)$/.test(line)),
      before.split("\n").filter((line) => !/ (\.\.?|\.little-harness)$/.test(line)),
    );
    // A file of ours where the source has a link: never written through it.
    const finished = await inTurn(h.main, async (files) => {
      await files.write(at("link.txt"), "EVIL");
      await files.write(at("folder-link/sub/inner.txt"), "EVIL");
    });
    assert.equal(finished.persistence.status, "failed", "the source has something else there");
    assert.equal(fs.readFileSync(path.join(outside, "secret.txt"), "utf8"), "SECRET");
    assert.equal(fs.readFileSync(path.join(outside, "sub/inner.txt"), "utf8"), "SECRET");
    assert.ok(fs.lstatSync(path.join(source, "link.txt")).isSymbolicLink());
    assert.ok(fs.lstatSync(path.join(source, "folder-link")).isSymbolicLink());
    const listed = [...(await h.persistence.pending()), ...(await h.persistence.conflicts())]
      .map((each) => each.path)
      .sort();
    assert.deepEqual(listed, [at("folder-link/sub/inner.txt"), at("link.txt")], "and nothing of ours is lost");
    assert.equal((await h.files.read(at("link.txt"))).text(), "EVIL");
  },
);
