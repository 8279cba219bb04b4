// harness.db is lost: no file of a checkout is overwritten, none of the store is replaced by it without a word.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { rejectsWith } from "../../host.mjs";
import { assertHolds, assertLanded, at, conflictsOf, filesOf, inTurn, leavePending, pendingOf } from "../session.mjs";

async function losesDatabase(h) {
  await h.close();
  for (const name of fs.readdirSync(h.dataDir))
    if (name.startsWith("harness.db")) fs.rmSync(path.join(h.dataDir, name));
  return h.again();
}

export function cases(it) {
  it("a lost database, nothing pending: all goes on", async (t, h, store) => {
    store.write("a", "a");
    store.write("b/c", "c");
    await inTurn(h.main, (files) => files.write(at("d"), "d"));
    const fresh = await losesDatabase(h);
    assertLanded((await inTurn(fresh.main)).persistence, {});
    assertHolds(filesOf(h.checkout), { a: "a", "b/c": "c", d: "d" });
    assertLanded((await inTurn(fresh.main, (files) => files.write(at("a"), "next"))).persistence, { updated: 1 });
    assertHolds(store.read(), { a: "next", "b/c": "c", d: "d" });
  });

  it("a lost database: each file that differs is in conflict or pending, and whole", async (t, h, store) => {
    store.write("a", "base");
    store.write("same", "same");
    await leavePending(h.main, async (files) => {
      await files.write(at("a"), "ours");
      await files.write(at("new"), "ours");
    });
    const fresh = await losesDatabase(h);
    const first = await pendingOf(fresh.main);
    assert.ok(first.length + Object.keys(await conflictsOf(fresh.main)).length === 2, `listed at once: ${first}`);
    await (await fresh.main.beginTurn()).abort();
    assertHolds(filesOf(h.checkout), { a: "ours", same: "same", new: "ours" });
    const conflicts = await conflictsOf(fresh.main, ["base", "ours"]);
    const pending = await pendingOf(fresh.main);
    assert.equal(conflicts.a, "-|ours|base", "no base tells which side is newer");
    assert.ok("new" in conflicts !== pending.includes("created new"), JSON.stringify([conflicts, pending]));
    assert.equal(pending.length + Object.keys(conflicts).length, 2);
    await inTurn(fresh.main);
    assert.equal(store.read().get("a").toString(), "base", "nothing of the store is overwritten unasked");
    for (const name of Object.keys(conflicts)) await fresh.main.persistence.resolve(at(name), "ours");
    assertLanded(await fresh.main.persistence.commit());
    assertHolds(store.read(), { a: "ours", same: "same", new: "ours" });
  });

  it("a lost database: another user's turn sends nothing of what is left", { byUser: true }, async (t, h, store) => {
    store.write("a", "of a", "a");
    store.write("b", "of b", "b");
    await leavePending(h.main, (files) => files.write(at("secret"), "a's"), { extraBody: { user: "a" } });
    const fresh = await losesDatabase(h);
    await inTurn(fresh.main, () => {}, { extraBody: { user: "b" } }).catch((error) => {
      assert.equal(error.code, "FS_CONFLICT");
    });
    await fresh.main.persistence.commit({ extraBody: { user: "b" } }).catch(() => {});
    assertHolds(store.read("b"), { b: "of b" });
    assert.equal(filesOf(h.checkout).get("secret")?.toString(), "a's", "and loses nothing of it");
  });

  it(
    "a lost database and the store down: what is there is listed",
    { needs: (store) => store.faults?.includes("before") },
    async (t, h, store) => {
      store.write("a", "base");
      await leavePending(h.main, (files) => files.write(at("new"), "ours"));
      const fresh = await losesDatabase(h);
      const failures = Array.from({ length: 20 }, () => new Error("down"));
      store.failLoads?.push(...failures);
      const failing = () => store.failLoad?.() ?? store.fail(1, "before");
      const heal = store.failLoads ? () => store.failLoads.splice(0) : failing();
      const pending = await fresh.main.persistence.pending();
      const found = pending.find(({ path: name }) => name === at("new"));
      assert.ok(found, "what was written is listed");
      assert.equal(found.lastError?.code, "FS_LOAD_FAILED");
      await rejectsWith(fresh.main.beginTurn(), "FS_LOAD_FAILED");
      assert.equal(filesOf(h.checkout).get("new").toString(), "ours");
      heal();
      await inTurn(fresh.main);
      assert.equal(filesOf(h.checkout).get("new").toString(), "ours");
    },
  );
}
