// What the store holds comes in; what is uncommitted stays.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import { StoreFailure } from "../stores.mjs";
import { assertHolds, assertLanded, at, DIR, filesOf, inTurn, leavePending, pendingOf, shell } from "../session.mjs";

export function cases(it) {
  it("the first access loads, outside a turn too", async (t, h, store) => {
    store.write("notes.md", "one");
    store.write("deep/er/x.txt", "x");
    assert.equal((await h.files.read(at("notes.md"))).text(), "one");
    assertHolds(filesOf(h.checkout), { "notes.md": "one", "deep/er/x.txt": "x" });
    assert.deepEqual(await pendingOf(h.main), []);
  });

  for (const [title, access] of Object.entries({
    stat: (files) => files.stat(at("a.txt")),
    list: async (files) =>
      assert.deepEqual(
        (await files.list(DIR)).map((entry) => entry.path),
        [at("a.txt")],
      ),
    "a recursive list of /persistent": async (files) => {
      const paths = (await files.list("/persistent", { recursive: true })).map((entry) => entry.path);
      assert.ok(paths.includes(at("a.txt")), String(paths));
    },
    readStream: async (files) => {
      const parts = [];
      for await (const part of await files.readStream(at("a.txt"))) parts.push(part);
      assert.equal(Buffer.concat(parts).toString(), "a");
    },
    write: (files) => files.write(at("a.txt"), "written"),
    remove: (files) => files.remove(at("a.txt")),
  })) {
    it(`${title} as the first access`, async (t, h, store) => {
      store.write("a.txt", "a");
      await access(h.files);
      assert.deepEqual(await pendingOf(h.main), [], "it is known what the store holds");
    });
  }

  it("an empty store is an empty folder", async (t, h) => {
    assert.deepEqual(await h.files.list(DIR), []);
    await rejectsWith(h.files.read(at("none.txt")), "FS_NOT_FOUND");
    assertLanded((await inTurn(h.main)).persistence, {});
  });

  it("a turn begins with a refresh, an access outside one does not", async (t, h, store) => {
    for (const name of ["changed", "gone", "same"]) store.write(name, `old ${name}`);
    assert.equal((await h.files.read(at("changed"))).text(), "old changed");
    store.write("changed", "new");
    store.write("made/new", "new");
    store.remove("gone");
    assert.equal((await h.files.read(at("changed"))).text(), "old changed");
    await inTurn(h.main, async (files) => {
      assert.equal((await files.read(at("changed"))).text(), "new");
      assert.equal((await files.read(at("made/new"))).text(), "new");
      await rejectsWith(files.read(at("gone")), "FS_NOT_FOUND");
    });
    assertHolds(filesOf(h.checkout), { changed: "new", "made/new": "new", same: "old same" });
    assertHolds(store.read(), filesOf(h.checkout));
  });

  it("a refresh keeps what is uncommitted, and brings in all else", async (t, h, store) => {
    for (const name of ["mine", "dropped", "theirs", "theirs-gone", "same"]) store.write(name, `old ${name}`);
    await leavePending(h.main, async (files) => {
      await files.write(at("mine"), "edited");
      await files.write(at("made"), "by me");
      await files.remove(at("dropped"));
    });
    store.write("theirs", "changed");
    store.write("theirs-new", "new");
    store.remove("theirs-gone");
    const wanted = { mine: "edited", made: "by me", theirs: "changed", "theirs-new": "new", same: "old same" };
    const turn = await h.main.beginTurn();
    assertHolds(filesOf(h.checkout), wanted);
    assert.deepEqual(await pendingOf(h.main), ["deleted dropped", "created made", "updated mine"]);
    assertLanded((await turn.finish()).persistence, { created: 1, updated: 1, deleted: 1 });
    assertHolds(store.read(), wanted);
    assertHolds(filesOf(h.checkout), wanted);
  });

  it("what a shell left uncommitted is kept as well", async (t, h, store) => {
    store.write("a", "old");
    store.write("b", "old");
    await inTurn(h.main);
    shell.write(h.checkout, "a", "by a shell");
    shell.write(h.checkout, "new/c", "by a shell");
    shell.remove(h.checkout, "b");
    store.write("d", "theirs");
    const turn = await h.main.beginTurn();
    assertHolds(filesOf(h.checkout), { a: "by a shell", "new/c": "by a shell", d: "theirs" });
    assertLanded((await turn.finish()).persistence, { created: 1, updated: 1, deleted: 1 });
    assertHolds(store.read(), { a: "by a shell", "new/c": "by a shell", d: "theirs" });
  });

  it("a store that comes to be empty empties the checkout, without a change of ours", async (t, h, store) => {
    for (const name of ["a", "b/c", "b/d/e"]) store.write(name, name);
    await inTurn(h.main);
    for (const name of ["a", "b/c", "b/d/e"]) store.remove(name);
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(filesOf(h.checkout), {});
  });

  it("a file of the store becomes a folder, and the reverse", async (t, h, store) => {
    store.write("x", "a file");
    store.write("y/z", "in a folder");
    await inTurn(h.main);
    store.remove("x");
    store.write("x/inner", "now a folder");
    store.remove("y/z");
    store.write("y", "now a file");
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(filesOf(h.checkout), { "x/inner": "now a folder", y: "now a file" });
  });

  it(
    "a load that fails: no turn is open, the old checkout stays, what is pending stays",
    { needs: (store) => store.faults?.includes("before") },
    async (t, h, store) => {
      store.write("a", "old");
      store.write("b", "old");
      await leavePending(h.main, (files) => files.write(at("a"), "mine"));
      store.write("b", "new");
      const failure = new StoreFailure("down");
      store.failLoads?.push(failure);
      const heal = store.failLoads ? () => {} : (store.failLoad?.() ?? store.fail(1, "before"));
      const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
      if (store.failLoads) assert.equal(error.cause, failure);
      assertHolds(filesOf(h.checkout), { a: "mine", b: "old" });
      assert.equal((await h.files.read(at("a"))).text(), "mine");
      assert.deepEqual(await pendingOf(h.main), ["updated a"]);
      assert.equal((await h.main.status()).state, "idle");
      heal();
      assertLanded((await inTurn(h.main)).persistence, { updated: 1 });
      assertHolds(store.read(), { a: "mine", b: "new" });
      assertHolds(filesOf(h.checkout), { a: "mine", b: "new" });
    },
  );

  it("files of 70 MiB come in, and go out", { timeout: 120_000 }, async (t, h, store) => {
    const big = Buffer.alloc(70 << 20, "seventy.");
    store.write("in.bin", big);
    store.write("small.txt", "small");
    const ours = Buffer.alloc(70 << 20, "outwards");
    const finished = await inTurn(h.main, async (files) => {
      assert.equal((await files.stat(at("in.bin"))).bytes, big.length);
      await files.write(at("out.bin"), ours);
      await files.write(at("small.txt"), "changed");
    });
    assertLanded(finished.persistence, { created: 1, updated: 1 });
    assertHolds(store.read(), { "in.bin": big, "out.bin": ours, "small.txt": "changed" });
    assertHolds(filesOf(h.checkout), store.read());
  });
}
