// What a turn changed lands when it finishes; nothing else is sent.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { withHost } from "../../host.mjs";
import {
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
  shell,
  stepsOf,
} from "../session.mjs";

export function cases(it) {
  it("create, update and delete land together, and are done with", async (t, h, store) => {
    for (const name of ["kept", "changed", "deleted"]) store.write(name, `old ${name}`);
    const finished = await inTurn(h.main, async (files) => {
      await files.write(at("made/it.txt"), "new");
      await files.write(at("changed"), "new");
      await files.remove(at("deleted"));
    });
    const changes = { created: 1, updated: 1, deleted: 1 };
    assert.deepEqual(finished.persistence, {
      status: "succeeded",
      commits: [{ harnessDir: DIR, commit: "after-turn", status: "succeeded", changes }],
    });
    const wanted = { kept: "old kept", changed: "new", "made/it.txt": "new" };
    assertHolds(store.read(), wanted);
    assertHolds(filesOf(h.checkout), wanted);
    assert.deepEqual(await pendingOf(h.main), []);
    assert.deepEqual(await h.persistence.conflicts(), []);
    assert.deepEqual(h.failures, []);
    // The base has advanced: nothing is sent a second time, and what is made on top of it is told against it.
    assertLanded((await inTurn(h.main)).persistence, {});
    assertLanded((await inTurn(h.main, (files) => files.write(at("changed"), "newer"))).persistence, { updated: 1 });
    assertLanded((await inTurn(h.main, (files) => files.remove(at("made/it.txt")))).persistence, { deleted: 1 });
    assertHolds(store.read(), { kept: "old kept", changed: "newer" });
  });

  it("changes of a shell count: edits, a rename as delete plus create, a folder moved", async (t, h, store) => {
    for (const name of ["edited", "before.txt", "folder/a", "folder/b/c", "dropped/d"]) store.write(name, name);
    const finished = await inTurn(h.main, () => {
      shell.write(h.checkout, "edited", "by a shell");
      fs.renameSync(path.join(h.checkout, "before.txt"), path.join(h.checkout, "after.txt"));
      fs.renameSync(path.join(h.checkout, "folder"), path.join(h.checkout, "moved"));
      shell.remove(h.checkout, "dropped");
    });
    assertLanded(finished.persistence, { created: 3, updated: 1, deleted: 4 });
    const wanted = {
      edited: "by a shell",
      "after.txt": "before.txt",
      "moved/a": "folder/a",
      "moved/b/c": "folder/b/c",
    };
    assertHolds(store.read(), wanted);
    assertHolds(filesOf(h.checkout), wanted);
  });

  it("what is the same is no change: equal bytes, a touch, made and removed, changed and changed back", async (t, h, store) => {
    for (const name of ["same", "touched", "back"]) store.write(name, `old ${name}`);
    await inTurn(h.main);
    const before = store.commitCalls?.length;
    const finished = await inTurn(h.main, async (files) => {
      await files.write(at("same"), "old same");
      fs.utimesSync(path.join(h.checkout, "touched"), 1000, 1000);
      await files.write(at("short-lived"), "x");
      await files.remove(at("short-lived"));
      await files.write(at("back"), "changed");
      await files.write(at("back"), "old back");
      fs.mkdirSync(path.join(h.checkout, "empty/folders"), { recursive: true });
    });
    assertLanded(finished.persistence, {});
    assert.equal(store.commitCalls?.length, before, "nothing was called");
    assert.deepEqual(
      stepsOf(h.events).filter((step) => step.startsWith("commit.")),
      [],
    );
    assertHolds(store.read(), { same: "old same", touched: "old touched", back: "old back" });
  });

  it("persistence.commit with nothing pending", async (t, h, store) => {
    store.write("a", "a");
    await inTurn(h.main);
    const before = store.commitCalls?.length;
    for (let round = 0; round < 2; round++) assertLanded(await h.persistence.commit(), {});
    assert.equal(store.commitCalls?.length, before);
  });

  it("a recursive remove deletes every file of it", async (t, h, store) => {
    for (const name of ["tree/a", "tree/b/c", "tree/b/d/e", "tree-not", "z"]) store.write(name, name);
    const finished = await inTurn(h.main, (files) => files.remove(at("tree"), { recursive: true }));
    assertLanded(finished.persistence, { deleted: 3 });
    assertHolds(store.read(), { "tree-not": "tree-not", z: "z" });
  });

  it("a file becomes a folder, and a folder a file", async (t, h, store) => {
    store.write("x", "a file");
    store.write("y/z/deep", "in a folder");
    const finished = await inTurn(h.main, async (files) => {
      await files.remove(at("x"));
      await files.write(at("x/inner"), "now a folder");
      await files.remove(at("y"), { recursive: true });
      await files.write(at("y"), "now a file");
    });
    assertLanded(finished.persistence, { created: 2, deleted: 2 });
    assertHolds(store.read(), { "x/inner": "now a folder", y: "now a file" });
    assertLanded((await inTurn(h.main)).persistence, {});
  });

  it("finish commits what earlier turns left", async (t, h, store) => {
    store.write("a", "old");
    await leavePending(h.main, (files) => files.write(at("a"), "first"));
    await leavePending(h.main, (files) => files.write(at("b"), "second"));
    await leavePending(h.main, (files) => files.write(at("a"), "third"));
    assertHolds(store.read(), { a: "old" }, "a turn that is aborted commits nothing");
    assert.deepEqual(await pendingOf(h.main), ["updated a", "created b"]);
    assertLanded((await inTurn(h.main)).persistence, { created: 1, updated: 1 });
    assertHolds(store.read(), { a: "third", b: "second" });
  });

  it("another session, another handle and another dataDir see what landed", async (t, h, store) => {
    await inTurn(h.main, (files) => files.write(at("shared.txt"), "one"));
    const other = await h.session("other");
    assert.equal((await other.files.read(at("shared.txt"))).text(), "one");
    assertLanded((await inTurn(other, (files) => files.write(at("shared.txt"), "two"))).persistence, { updated: 1 });
    const elsewhere = await withHost(t, { persistentDirs: [store.dir({ harnessDir: DIR })] });
    assert.equal((await elsewhere.files.read(at("shared.txt"))).text(), "two");
    assertLanded((await inTurn(elsewhere.main, (files) => files.write(at("shared.txt"), "three"))).persistence, {
      updated: 1,
    });
    const same = await h.session();
    await inTurn(same, async (files) => assert.equal((await files.read(at("shared.txt"))).text(), "three"));
    assertHolds(store.read(), { "shared.txt": "three" });
  });

  it("many files at once", { timeout: 120_000 }, async (t, h, store) => {
    const wanted = new Map();
    const finished = await inTurn(h.main, async (files) => {
      for (let n = 0; n < 300; n++) {
        const name = `${n % 10}/${n % 3}/${n}.txt`;
        wanted.set(name, `content ${n}`);
        await files.write(at(name), `content ${n}`);
      }
    });
    assertLanded(finished.persistence, { created: 300 });
    assertHolds(store.read(), wanted);
    assertLanded((await inTurn(h.main)).persistence, {});
  });

  // ── Host writes outside a turn ──

  it("a host write or remove outside a turn commits that one path at once", async (t, h, store) => {
    store.write("old.txt", "old");
    await leavePending(h.main, (files) => files.write(at("pending.txt"), "left"));
    const ref = await h.files.write(at("host.txt"), "by the host");
    assert.deepEqual([ref.path, ref.bytes], [at("host.txt"), 11]);
    assertHolds(store.read(), { "old.txt": "old", "host.txt": "by the host" });
    await h.files.writeJSON(at("host.txt"), { by: "the host" });
    await h.files.remove(at("old.txt"));
    assertHolds(store.read(), { "host.txt": '{\n  "by": "the host"\n}' });
    assert.deepEqual(await pendingOf(h.main), ["created pending.txt"], "all else waits for its turn");
    assertLanded(await h.persistence.commit(), { created: 1 });
    assertHolds(store.read(), { "host.txt": '{\n  "by": "the host"\n}', "pending.txt": "left" });
  });

  it("a host write below a file that is pending as deleted takes its deletion along", async (t, h, store) => {
    for (const name of ["x", "other"]) store.write(name, "base");
    await leavePending(h.main, async (files) => {
      await files.remove(at("x"));
      await files.write(at("x/left.txt"), "left");
      await files.remove(at("other"));
    });
    assertHolds(store.read(), { x: "base", other: "base" });
    await h.files.write(at("x/sent.txt"), "sent");
    assertHolds(store.read(), { "x/sent.txt": "sent", other: "base" });
    assert.deepEqual(await pendingOf(h.main), ["deleted other", "created x/left.txt"]);
    assertLanded((await inTurn(h.main)).persistence, { created: 1, deleted: 1 });
    assertHolds(store.read(), { "x/sent.txt": "sent", "x/left.txt": "left" });
  });

  it("a recursive remove of the host deletes what is below, in the store too", async (t, h, store) => {
    for (const name of ["tree/a", "tree/b/c", "z"]) store.write(name, name);
    await h.files.remove(at("tree"), { recursive: true });
    assertHolds(store.read(), { z: "z" });
    assert.deepEqual(await pendingOf(h.main), []);
  });

  it("a host write while a turn runs belongs to that turn", async (t, h, store) => {
    const other = await h.session(); // another handle on the same session
    const second = await h.again();
    const turn = await h.main.beginTurn();
    await h.files.write(at("a"), "this handle");
    await other.files.write(at("b"), "another handle");
    await second.files.write(at("c"), "another host");
    await turn.files.write(at("d"), "the turn");
    assertHolds(store.read(), {});
    assertLanded((await turn.finish()).persistence, { created: 4 });
    assertHolds(store.read(), { a: "this handle", b: "another handle", c: "another host", d: "the turn" });
    await other.files.write(at("e"), "after it");
    assert.equal(store.read().get("e")?.toString(), "after it");
  });
}
