// "manual" commits when it is told to, "read-only" never.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
  shell,
} from "../session.mjs";

const skipped = (commit) => ({
  status: "succeeded",
  commits: [{ harnessDir: DIR, commit, status: "skipped" }],
});

export function cases(it) {
  it(
    "manual: finish skips, commitManual commits, as often as it is called",
    { commit: "manual" },
    async (t, h, store) => {
      store.write("a", "old");
      const finished = await inTurn(h.main, (files) => files.write(at("a"), "first"));
      assert.deepEqual(finished.persistence, skipped("manual"));
      assertHolds(store.read(), { a: "old" });
      assert.deepEqual(await pendingOf(h.main), ["updated a"]);
      assertLanded(await finished.commitManual(), { updated: 1 });
      assertHolds(store.read(), { a: "first" });
      assert.deepEqual(await pendingOf(h.main), []);
      assertLanded(await finished.commitManual(), {});
      // It is no memory of the first call: what came since is committed too.
      await h.files.write(at("b"), "later");
      assertHolds(store.read(), { a: "first" }, "a host write is pending in a manual dir");
      assert.deepEqual(await pendingOf(h.main), ["created b"]);
      assertLanded(await finished.commitManual(), { created: 1 });
      assertHolds(store.read(), { a: "first", b: "later" });
    },
  );

  it("manual: pending over turns, committed by persistence.commit", { commit: "manual" }, async (t, h, store) => {
    await inTurn(h.main, (files) => files.write(at("a"), "one"));
    await inTurn(h.main, (files) => files.write(at("b"), "two"));
    assertHolds(store.read(), {});
    assert.deepEqual(await pendingOf(h.main), ["created a", "created b"]);
    assertLanded(await h.persistence.commit(), { created: 2 });
    assertHolds(store.read(), { a: "one", b: "two" });
  });

  it(
    "manual: a commit that failed can be tried again",
    { commit: "manual", needs: (store) => store.faults?.includes("before") },
    async (t, h, store) => {
      const finished = await inTurn(h.main, (files) => files.write(at("a"), "one"));
      for (let round = 0; round < 2; round++) {
        const heal = store.fail(1, "before");
        assertFailed(await finished.commitManual(), "FS_COMMIT_FAILED");
        heal();
        assert.deepEqual(await pendingOf(h.main), ["created a"]);
      }
      assertLanded(await finished.commitManual(), { created: 1 });
      assertHolds(store.read(), { a: "one" });
    },
  );

  it("after-turn: commitManual skips", async (t, h, store) => {
    const finished = await inTurn(h.main, (files) => files.write(at("a"), "one"));
    assertLanded(finished.persistence, { created: 1 });
    await leavePending(h.main, (files) => files.write(at("b"), "two"));
    assert.deepEqual(await finished.commitManual(), skipped("after-turn"));
    assertHolds(store.read(), { a: "one" });
  });

  it("read-only: it is read, refreshed, and never written", { commit: "read-only" }, async (t, h, store) => {
    store.write("a", "one");
    store.write("deep/b", "one");
    assert.equal((await h.files.read(at("a"))).text(), "one");
    for (const run of [
      () => h.files.write(at("a"), "mine"),
      () => h.files.write(at("new/c"), "mine"),
      () => h.files.remove(at("a")),
      () => h.files.remove(at("deep"), { recursive: true }),
    ])
      await rejectsWith(run, "FS_SANDBOX_DENIED", { reason: "read_only", message: /read-only/ });
    store.write("a", "two");
    store.remove("deep/b");
    const finished = await inTurn(h.main, async (files) => {
      assert.equal((await files.read(at("a"))).text(), "two");
      await rejectsWith(files.write(at("a"), "mine"), "FS_SANDBOX_DENIED", { reason: "read_only" });
    });
    assert.deepEqual(finished.persistence, skipped("read-only"));
    assert.deepEqual(await finished.commitManual(), skipped("read-only"));
    assertHolds(filesOf(h.checkout), { a: "two" });
    assertHolds(store.read(), { a: "two" });
    assert.equal(store.commitCalls?.length ?? 0, 0);
  });

  it(
    "read-only: what a shell changed is pending, kept, and never sent",
    { commit: "read-only" },
    async (t, h, store) => {
      store.write("a", "one");
      store.write("b", "one");
      await inTurn(h.main, () => {
        shell.write(h.checkout, "a", "by a shell");
        shell.write(h.checkout, "new", "by a shell");
        shell.remove(h.checkout, "b");
      });
      assert.deepEqual(await pendingOf(h.main), ["updated a", "deleted b", "created new"]);
      for (const each of await h.persistence.pending()) assert.equal(each.lastError?.code, "FS_SANDBOX_DENIED");
      await h.persistence.commit();
      assertHolds(store.read(), { a: "one", b: "one" });
      assertHolds(filesOf(h.checkout), { a: "by a shell", new: "by a shell" });
      await h.persistence.discard({ harnessDirs: [DIR] });
      assert.deepEqual(await pendingOf(h.main), []);
      assertHolds(filesOf(h.checkout), { a: "one", b: "one" });
    },
  );
}
