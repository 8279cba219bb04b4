// Two sides that changed the same path: nothing is sent, nothing is lost, both versions are at hand.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import { sha256 } from "../../tree.mjs";
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
  theirsOf,
} from "../session.mjs";

const TEXTS = ["base", "ours", "theirs"];

/**
 * One path, three versions: what both began with, what we made of it and what another program made of it; undefined is no
 * file. `told` is the conflict as base|ours|theirs.
 */
const KINDS = {
  "changed against changed": { base: "base", ours: "ours", theirs: "theirs", told: "base|ours|theirs" },
  "changed against deleted": { base: "base", ours: "ours", theirs: undefined, told: "base|ours|-" },
  "deleted against changed": { base: "base", ours: undefined, theirs: "theirs", told: "base|-|theirs" },
  "created against created": { base: undefined, ours: "ours", theirs: "theirs", told: "-|ours|theirs" },
};
const CHANGE = (base, ours) => (base === undefined ? "created" : ours === undefined ? "deleted" : "updated");

/** Base, our change, left by an aborted turn, and then theirs. "other.txt" is ours too, and in nobody's way. */
async function diverge(h, store, { base, ours, theirs }, name = "notes.md") {
  store.write("kept.txt", "kept");
  if (base !== undefined) store.write(name, base);
  await leavePending(h.main, async (files) => {
    if (ours === undefined) await files.remove(at(name));
    else await files.write(at(name), ours);
    await files.write(at("other.txt"), "other");
  });
  if (theirs === undefined) store.remove(name);
  else store.write(name, theirs);
}

const held = (name, content) => (content === undefined ? {} : { [name]: content });

export function cases(it) {
  for (const [title, kind] of Object.entries(KINDS)) {
    const { base, ours, theirs, told } = kind;

    it(`${title}: told, nothing is sent`, async (t, h, store) => {
      await diverge(h, store, kind);
      const { persistence } = await inTurn(h.main);
      const error = assertFailed(persistence, "FS_CONFLICT");
      assert.ok(
        JSON.stringify([error.message, error.details]).includes("notes.md"),
        `the path is named: ${error.message}`,
      );
      assert.equal(h.failures.length, 1);
      assertHolds(store.read(), { "kept.txt": "kept", ...held("notes.md", theirs) }, "the store is as they left it");
      assertHolds(filesOf(h.checkout), { "kept.txt": "kept", "other.txt": "other", ...held("notes.md", ours) });
      assert.deepEqual(await conflictsOf(h.main, TEXTS), { "notes.md": told });
      assert.deepEqual(await pendingOf(h.main), ["created other.txt"], "in conflict or pending, not both");
      const data = await theirsOf(h.main, at("notes.md"));
      if (theirs === undefined) assert.equal(data, undefined);
      else assert.deepEqual([data.text(), data.bytes, data.sha256], [theirs, theirs.length, sha256(theirs)]);
      // It is no passing state: turns, commits and other handles meet the same conflict.
      assertFailed(await h.persistence.commit(), "FS_CONFLICT");
      assertFailed((await inTurn(await h.session())).persistence, "FS_CONFLICT");
      assert.deepEqual(await conflictsOf(h.main, TEXTS), { "notes.md": told });
      assertHolds(store.read(), { "kept.txt": "kept", ...held("notes.md", theirs) });
    });

    it(`${title}: resolved as ours`, async (t, h, store) => {
      await diverge(h, store, kind);
      assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
      await h.persistence.resolve(at("notes.md"), "ours");
      assert.deepEqual(await h.persistence.conflicts(), []);
      assert.deepEqual(await pendingOf(h.main), [`${CHANGE(theirs, ours)} notes.md`, "created other.txt"]);
      assertLanded(await h.persistence.commit());
      const wanted = { "kept.txt": "kept", "other.txt": "other", ...held("notes.md", ours) };
      assertHolds(store.read(), wanted);
      assertHolds(filesOf(h.checkout), wanted);
      assert.deepEqual(await pendingOf(h.main), []);
      assertLanded((await inTurn(h.main)).persistence, {});
    });

    it(`${title}: resolved as theirs`, async (t, h, store) => {
      await diverge(h, store, kind);
      assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
      await h.persistence.resolve(at("notes.md"), "theirs");
      assert.deepEqual(await h.persistence.conflicts(), []);
      const wanted = { "kept.txt": "kept", "other.txt": "other", ...held("notes.md", theirs) };
      assertHolds(filesOf(h.checkout), wanted);
      assert.deepEqual(await pendingOf(h.main), ["created other.txt"]);
      assertLanded(await h.persistence.commit());
      assertHolds(store.read(), wanted);
      assertLanded((await inTurn(h.main)).persistence, {});
    });

    it(`${title}: both files stay through a new host, and theirs moves on`, async (t, h, store) => {
      await diverge(h, store, kind);
      assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
      await h.close();
      const fresh = await h.again();
      assert.deepEqual(await conflictsOf(fresh.main, TEXTS), { "notes.md": told });
      store.write("notes.md", "theirs, later");
      const turn = await fresh.main.beginTurn();
      assert.deepEqual(await conflictsOf(fresh.main, [...TEXTS, "theirs, later"]), {
        "notes.md": `${base ?? "-"}|${ours ?? "-"}|theirs, later`,
      });
      await turn.abort();
      assert.equal((await theirsOf(fresh.main, at("notes.md"))).text(), "theirs, later");
      await fresh.main.persistence.resolve(at("notes.md"), "theirs");
      assert.equal((await fresh.files.read(at("notes.md"))).text(), "theirs, later");
    });
  }

  it("a conflict that is settled by hand on either side is none any more", async (t, h, store) => {
    await diverge(h, store, KINDS["changed against changed"]);
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    // Ours becomes what theirs is: nothing is left to decide.
    const finished = await inTurn(h.main, (files) => files.write(at("notes.md"), "theirs"));
    assertLanded(finished.persistence);
    assert.deepEqual(await h.persistence.conflicts(), []);
    assertHolds(store.read(), { "kept.txt": "kept", "notes.md": "theirs", "other.txt": "other" });
  });

  it("a path in conflict can be written on; the conflict shows what ours is now", async (t, h, store) => {
    await diverge(h, store, KINDS["changed against changed"]);
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    await inTurn(h.main, (files) => files.write(at("notes.md"), "merged by the agent"));
    assert.deepEqual(await conflictsOf(h.main, [...TEXTS, "merged by the agent"]), {
      "notes.md": "base|merged by the agent|theirs",
    });
    await h.persistence.resolve(at("notes.md"), "ours");
    assertLanded(await h.persistence.commit());
    assert.equal(store.read().get("notes.md").toString(), "merged by the agent");
  });

  for (const side of ["ours", "theirs"]) {
    it(`a merge that comes out as what the store holds can be resolved as ${side}`, async (t, h, store) => {
      await diverge(h, store, KINDS["changed against changed"]);
      assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
      const turn = await h.main.beginTurn();
      await turn.files.write(at("notes.md"), "theirs");
      await h.persistence.resolve(at("notes.md"), side);
      assert.deepEqual(await h.persistence.conflicts(), []);
      assert.deepEqual(await pendingOf(h.main), ["created other.txt"]);
      await rejectsWith(h.persistence.resolve(at("notes.md"), side), "FS_NOT_FOUND");
      assertLanded((await finish(turn)).persistence, { created: 1 });
      assertHolds(store.read(), { "kept.txt": "kept", "notes.md": "theirs", "other.txt": "other" });
    });
  }

  it("file against folder: ours is a file", async (t, h, store) => {
    store.write("kept.txt", "kept");
    await leavePending(h.main, (files) => files.write(at("x"), "ours"));
    store.write("x/theirs.txt", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assertHolds(store.read(), { "kept.txt": "kept", "x/theirs.txt": "theirs" });
    assert.equal((await h.files.read(at("x"))).text(), "ours");
    assert.deepEqual(Object.keys(await conflictsOf(h.main)), ["x"]);
    await h.persistence.resolve(at("x"), "theirs");
    assert.deepEqual(await h.persistence.conflicts(), []);
    assertLanded((await inTurn(h.main)).persistence);
    assertHolds(store.read(), { "kept.txt": "kept", "x/theirs.txt": "theirs" });
    assertHolds(filesOf(h.checkout), store.read());
  });

  it("file against folder: ours is a folder", async (t, h, store) => {
    store.write("kept.txt", "kept");
    await leavePending(h.main, (files) => files.write(at("x/ours.txt"), "ours"));
    store.write("x", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assertHolds(store.read(), { "kept.txt": "kept", x: "theirs" });
    assert.equal((await h.files.read(at("x/ours.txt"))).text(), "ours");
    assert.deepEqual(Object.keys(await conflictsOf(h.main)), ["x"]);
    assert.equal((await theirsOf(h.main, at("x"))).text(), "theirs");
    await h.persistence.resolve(at("x"), "ours");
    assert.deepEqual(await h.persistence.conflicts(), []);
    assertLanded((await inTurn(h.main)).persistence);
    assertHolds(store.read(), { "kept.txt": "kept", "x/ours.txt": "ours" });
    assertHolds(filesOf(h.checkout), store.read());
  });

  it("file against folder, the other way to settle it", async (t, h, store) => {
    await leavePending(h.main, async (files) => {
      await files.write(at("x"), "our file");
      await files.write(at("y/ours.txt"), "in our folder");
    });
    store.write("x/theirs.txt", "in their folder");
    store.write("y", "their file");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.deepEqual(Object.keys(await conflictsOf(h.main)).sort(), ["x", "y"]);
    await h.persistence.resolve(at("x"), "ours");
    await h.persistence.resolve(at("y"), "theirs");
    assertLanded((await inTurn(h.main)).persistence);
    assertHolds(store.read(), { x: "our file", y: "their file" });
    assertHolds(filesOf(h.checkout), store.read());
    assert.deepEqual(await pendingOf(h.main), []);
  });

  for (const side of ["ours", "theirs"]) {
    it(`file against folder: our file replaced a folder in which theirs changed, resolved as ${side}`, async (t, h, store) => {
      for (const name of ["x/changed.txt", "x/kept.txt", "other.txt"]) store.write(name, "base");
      await leavePending(h.main, async (files) => {
        await files.remove(at("x"), { recursive: true });
        await files.write(at("x"), "our file");
      });
      store.write("x/changed.txt", "theirs");
      const before = store.read();
      for (let turn = 0; turn < 2; turn++) {
        assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
        assert.deepEqual(Object.keys(await conflictsOf(h.main)), ["x"]);
        assertHolds(store.read(), before);
        assert.equal((await h.files.read(at("x"))).text(), "our file");
      }
      await h.persistence.resolve(at("x"), side);
      assert.deepEqual(await h.persistence.conflicts(), []);
      if (side === "theirs") assert.equal((await h.files.read(at("x/changed.txt"))).text(), "theirs");
      await h.persistence.commit();
      assertLanded((await inTurn(h.main)).persistence, {});
      const wanted = side === "ours" ? { x: "our file" } : { "x/changed.txt": "theirs" };
      assertHolds(store.read(), { "other.txt": "base", ...wanted });
      assertHolds(filesOf(h.checkout), store.read());
    });
  }

  it("file against folder: it is over when the store has as before what we deleted", async (t, h, store) => {
    store.write("x/a.txt", "base");
    await leavePending(h.main, async (files) => {
      await files.remove(at("x"), { recursive: true });
      await files.write(at("x"), "our file");
    });
    store.write("x/a.txt", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    store.write("x/a.txt", "base");
    assertLanded((await inTurn(h.main)).persistence, { created: 1, deleted: 1 });
    assertHolds(store.read(), { x: "our file" });
    assert.deepEqual(await pendingOf(h.main), []);
  });

  it("file against folder: still a conflict when the folder has become a file", async (t, h, store) => {
    await leavePending(h.main, (files) => files.write(at("x"), "ours"));
    store.write("x/a.txt", "in their folder");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    store.remove("x/a.txt");
    store.write("x", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.deepEqual(await conflictsOf(h.main, TEXTS), { x: "-|ours|theirs" });
    assertHolds(store.read(), { x: "theirs" });
  });

  it("file against folder: still a conflict when the folder has gone, and our file was deleted with it", async (t, h, store) => {
    store.write("x", "base");
    await leavePending(h.main, (files) => files.write(at("x"), "ours"));
    store.remove("x");
    store.write("x/a.txt", "in their folder");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    store.remove("x/a.txt");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.deepEqual(await conflictsOf(h.main, TEXTS), { x: "base|ours|-" });
    assertHolds(store.read(), {});
  });

  it("file against folder: what they changed in it is not deleted once our file is gone", async (t, h, store) => {
    store.write("x/a.txt", "base");
    await leavePending(h.main, async (files) => {
      await files.remove(at("x"), { recursive: true });
      await files.write(at("x"), "ours");
    });
    store.write("x/a.txt", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    shell.remove(h.checkout, "x");
    assert.deepEqual(await pendingOf(h.main), []);
    assert.deepEqual(await conflictsOf(h.main, TEXTS), { "x/a.txt": "base|-|theirs" });
    assertFailed(await h.persistence.commit(), "FS_CONFLICT");
    assertHolds(store.read(), { "x/a.txt": "theirs" });
    await h.persistence.resolve(at("x/a.txt"), "theirs");
    assertHolds(filesOf(h.checkout), store.read());
  });

  it("a side that cannot be taken yet leaves the conflict as it was", async (t, h, store) => {
    store.write("x/a.txt", "base");
    await leavePending(h.main, (files) => files.remove(at("x"), { recursive: true }));
    store.write("x/a.txt", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    const told = { "x/a.txt": "base|-|theirs" };
    assert.deepEqual(await conflictsOf(h.main, TEXTS), told);
    shell.write(h.checkout, "x", "in the way");
    await rejectsWith(h.persistence.resolve(at("x/a.txt"), "theirs"), "FS_CONFLICT");
    assert.deepEqual(await conflictsOf(h.main, TEXTS), told);
    assert.equal((await h.files.read(at("x"))).text(), "in the way");
    shell.remove(h.checkout, "x");
    await h.persistence.resolve(at("x/a.txt"), "theirs");
    assert.equal((await h.files.read(at("x/a.txt"))).text(), "theirs");
    assertLanded(await h.persistence.commit(), {});
  });

  it("the same on both sides is no conflict", async (t, h, store) => {
    for (const name of ["updated", "deleted"]) store.write(name, "base");
    await leavePending(h.main, async (files) => {
      await files.write(at("updated"), "same");
      await files.write(at("created/deep"), "same");
      await files.remove(at("deleted"));
      await files.write(at("mine"), "mine");
    });
    store.write("updated", "same");
    store.write("created/deep", "same");
    store.remove("deleted");
    assertLanded((await inTurn(h.main)).persistence, { created: 1 });
    assert.deepEqual(await h.persistence.conflicts(), []);
    assert.deepEqual(await pendingOf(h.main), []);
    assertHolds(store.read(), { updated: "same", "created/deep": "same", mine: "mine" });
    // The base is what both have: a change on top of it is an update.
    const finished = await inTurn(h.main, (files) => files.write(at("created/deep"), "next"));
    assertLanded(finished.persistence, { updated: 1 });
  });

  it("different files on the two sides are merged", async (t, h, store) => {
    for (const name of ["a", "b", "c", "d"]) store.write(name, "base");
    await leavePending(h.main, async (files) => {
      await files.write(at("a"), "ours");
      await files.remove(at("b"));
      await files.write(at("folder/ours"), "ours");
    });
    store.write("c", "theirs");
    store.remove("d");
    store.write("folder/theirs", "theirs");
    assertLanded((await inTurn(h.main)).persistence, { created: 1, updated: 1, deleted: 1 });
    assertHolds(store.read(), { a: "ours", c: "theirs", "folder/ours": "ours", "folder/theirs": "theirs" });
    assertHolds(filesOf(h.checkout), store.read());
  });

  it(
    "changed in the midst of the turn: the same file is a conflict",
    { needs: (s) => s.detects },
    async (t, h, store) => {
      store.write("notes.md", "base");
      const turn = await h.main.beginTurn();
      await turn.files.write(at("notes.md"), "ours");
      store.write("notes.md", "theirs");
      assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
      assertHolds(store.read(), { "notes.md": "theirs" });
      assert.deepEqual(await conflictsOf(h.main, TEXTS), { "notes.md": "base|ours|theirs" });
      assert.equal((await h.files.read(at("notes.md"))).text(), "ours");
      await h.persistence.resolve(at("notes.md"), "ours");
      assertLanded(await h.persistence.commit(), { updated: 1 });
      assertHolds(store.read(), { "notes.md": "ours" });
    },
  );

  it("created, deleted in the midst of the turn", { needs: (s) => s.detects }, async (t, h, store) => {
    store.write("ours-deleted", "base");
    store.write("theirs-deleted", "base");
    const turn = await h.main.beginTurn();
    await turn.files.write(at("created"), "ours");
    await turn.files.remove(at("ours-deleted"));
    await turn.files.write(at("theirs-deleted"), "ours");
    store.write("created", "theirs");
    store.write("ours-deleted", "theirs");
    store.remove("theirs-deleted");
    assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
    assertHolds(store.read(), { created: "theirs", "ours-deleted": "theirs" });
    assert.deepEqual(await conflictsOf(h.main, TEXTS), {
      created: "-|ours|theirs",
      "ours-deleted": "base|-|theirs",
      "theirs-deleted": "base|ours|-",
    });
  });

  it("changed in the midst of the turn: other files are merged", { needs: (s) => s.detects }, async (t, h, store) => {
    store.write("a", "base");
    store.write("b", "base");
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a"), "ours");
    store.write("b", "theirs");
    store.write("c", "theirs");
    assertLanded((await finish(turn)).persistence, { updated: 1 });
    assertHolds(store.read(), { a: "ours", b: "theirs", c: "theirs" });
    await inTurn(h.main);
    assertHolds(filesOf(h.checkout), store.read());
  });

  it(
    "a host write outside a turn that meets a conflict rejects, and stays",
    { needs: (s) => s.detects },
    async (t, h, store) => {
      store.write("notes.md", "base");
      await inTurn(h.main);
      store.write("notes.md", "theirs");
      await rejectsWith(h.files.write(at("notes.md"), "ours"), "FS_CONFLICT");
      assertHolds(store.read(), { "notes.md": "theirs" });
      assert.equal((await h.files.read(at("notes.md"))).text(), "ours");
      assert.deepEqual(await conflictsOf(h.main, TEXTS), { "notes.md": "base|ours|theirs" });
      assert.equal(h.failures.length, 1);
      await h.persistence.resolve(at("notes.md"), "theirs");
      assert.equal((await h.files.read(at("notes.md"))).text(), "theirs");
    },
  );

  it("resolve asks for a path in conflict and a side", async (t, h, store) => {
    await diverge(h, store, KINDS["changed against changed"]);
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    for (const name of ["none.txt", "kept.txt", "other.txt"])
      await rejectsWith(h.persistence.resolve(at(name), "ours"), "FS_NOT_FOUND");
    for (const side of ["mine", undefined, null, 7, "OURS"])
      await rejectsWith(h.persistence.resolve(at("notes.md"), side), "FS_INVALID_OPTION");
    for (const path of [undefined, 7, "notes.md", "/persistent/user/../x"])
      await rejectsWith(h.persistence.resolve(path, "ours"), "FS_INVALID_PATH");
    assert.deepEqual(await conflictsOf(h.main, TEXTS), { "notes.md": "base|ours|theirs" });
    const [conflict] = await h.persistence.conflicts();
    assert.deepEqual([conflict.harnessDir, conflict.path], [DIR, at("notes.md")]);
  });
}
