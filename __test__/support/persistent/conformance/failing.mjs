// A commit that fails loses nothing: each change is in the store or pending, and any later retry lands what is left.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import { sha256 } from "../../tree.mjs";
import { startActor } from "../actor.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  finish,
  inTurn,
  leavePending,
  pendingOf,
  shell,
} from "../session.mjs";

const OLD = { "deep/changed": "old", deleted: "old", kept: "old" };
const NEW = { "deep/changed": "new", kept: "old", "made/1": "one", "made/2": "two" };
const CHANGES = ["updated deep/changed", "deleted deleted", "created made/1", "created made/2"];

async function change(files) {
  await files.write(at("deep/changed"), "new");
  await files.remove(at("deleted"));
  await files.write(at("made/1"), "one");
  await files.write(at("made/2"), "two");
}

/** Every change is in the store, or pending, whatever failed. */
async function assertNothingLost(h, store, { unknown }) {
  assertHolds(filesOf(h.checkout), NEW, "the files stay readable");
  const pending = await pendingOf(h.main);
  const held = store.read();
  for (const each of CHANGES) {
    const [kind, name] = each.split(" ");
    const landed = kind === "deleted" ? !held.has(name) : held.get(name)?.toString() === NEW[name];
    assert.ok(landed || pending.includes(each), `${each} is neither in the store nor pending (${pending})`);
    // Where it is known what landed, a change is one or the other; where the answer was lost a load has to tell.
    if (!unknown) assert.ok(!(landed && pending.includes(each)), `${each} has landed and is pending`);
  }
  for (const each of pending) assert.ok(CHANGES.includes(each), `${each} is none of the changes`);
  assert.deepEqual(await h.persistence.conflicts(), []);
  return pending;
}

async function assertDone(h, store) {
  assertHolds(store.read(), NEW);
  assertHolds(filesOf(h.checkout), NEW);
  assert.deepEqual(await pendingOf(h.main), []);
  assert.deepEqual(await h.persistence.conflicts(), []);
}

/** All ways to try again. Each gives the status. */
const RETRIES = {
  "the same handle": (t, h) => h.persistence.commit(),
  "the same handle, by name": (t, h) => h.persistence.commit({ harnessDirs: [DIR] }),
  "the next turn": async (t, h) => (await inTurn(h.main)).persistence,
  "another handle": async (t, h) => (await h.session()).persistence.commit(),
  "another host, at the same time": async (t, h) => {
    const second = await h.again();
    return second.main.persistence.commit();
  },
  "another process, after a restart": async (t, h, store) => {
    await h.close();
    const actor = startActor(t, { dataDir: h.dataDir, store });
    const status = await actor.ask({ op: "commit" });
    await actor.end();
    return status;
  },
};

const ELSEWHERE = "another process, after a restart";
const canBe = (way, store) => way !== ELSEWHERE || store.spec !== undefined;

async function again(t, h, store, [way, retry]) {
  const status = await retry(t, h, store);
  assert.equal(status.status, "succeeded", `${way}: ${JSON.stringify(status)}`);
  return way === ELSEWHERE ? h.again() : h;
}

/** A turn that makes the changes and cannot commit them. Gives what makes the store well again. */
async function failedTurn(h, store, k = 1, when = "before") {
  for (const [name, text] of Object.entries(OLD)) store.write(name, text);
  const turn = await h.main.beginTurn();
  await change(turn.files);
  const heal = store.fail(k, when);
  const error = assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
  if (store.failLoads) assert.equal(error.cause?.name, "StoreFailure"); // its own
  return heal;
}

const canFail = (store) => store.faults?.includes("before") === true;

export function cases(it) {
  // Each call fails in turn, before and after it was applied; the ways to try again take turns as well.
  const ways = Object.entries(RETRIES);
  let next = 0;
  for (const when of ["before", "after"]) {
    for (const k of [1, 2, 3, 4]) {
      const way = ways[next++ % ways.length];
      const needs = (store) => store.faults?.includes(when) && (k === 1 || !store.atomic) && canBe(way[0], store);
      it(`call ${k} fails ${when} it was applied; retried by ${way[0]}`, { needs }, async (t, h, store) => {
        const heal = await failedTurn(h, store, k, when);
        assert.equal(h.failures.length, 1, "onPersistenceError was called once");
        const pending = await assertNothingLost(h, store, { unknown: when === "after" });
        if (store.atomic) {
          assert.deepEqual(pending, CHANGES);
          for (const each of await h.persistence.pending())
            assert.deepEqual([each.attempts, each.lastError?.code], [1, "FS_COMMIT_FAILED"]);
        }
        heal();
        const calls = store.commitCalls?.slice() ?? [];
        await assertDone(await again(t, h, store, way), store);
        if (store.commitCalls) assertNoNeedlessCalls(store, calls, { k, when });
      });
    }
  }

  for (const way of ways) {
    const needs = (store) => canFail(store) && canBe(way[0], store);
    it(`a failed commit is retried by ${way[0]}`, { needs }, async (t, h, store) => {
      const heal = await failedTurn(h, store);
      heal();
      await assertDone(await again(t, h, store, way), store);
    });
  }

  it("it stays, through failure after failure, turns and restarts", { needs: canFail }, async (t, h, store) => {
    let heal = await failedTurn(h, store);
    let now = h;
    for (let round = 0; round < 3; round++) {
      heal();
      heal = store.fail(1, "before");
      assertFailed(await now.persistence.commit(), "FS_COMMIT_FAILED");
      heal();
      // A turn that goes well but for its commit, and one that is aborted, load and keep what is there.
      const turn = await now.main.beginTurn();
      heal = store.fail(1, "before");
      assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
      heal();
      await leavePending(now.main, async (files) => assert.equal((await files.read(at("deep/changed"))).text(), "new"));
      const pending = await assertNothingLost(now, store, { unknown: false });
      assert.deepEqual(pending, CHANGES);
      assertHolds(store.read(), OLD);
      await now.close();
      now = await now.again();
    }
    assertLanded(await now.persistence.commit(), { created: 2, updated: 1, deleted: 1 });
    await assertDone(now, store);
  });

  it("what changes between two attempts goes with the second", { needs: canFail }, async (t, h, store) => {
    store.write("a", "old");
    store.write("b", "old");
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a"), "first");
    await turn.files.write(at("c"), "first");
    await turn.files.remove(at("b"));
    const heal = store.fail(1, "before");
    assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
    heal();
    shell.write(h.checkout, "a", "second");
    shell.remove(h.checkout, "c");
    shell.write(h.checkout, "b", "old"); // back to what it was
    assert.deepEqual(await pendingOf(h.main), ["updated a"]);
    assertLanded(await h.persistence.commit(), { updated: 1 });
    assertHolds(store.read(), { a: "second", b: "old" });
  });

  it("a host write outside a turn that fails rejects, and stays", { needs: canFail }, async (t, h, store) => {
    store.write("a", "old");
    await inTurn(h.main);
    let heal = store.fail(1, "before");
    await rejectsWith(h.files.write(at("b"), "new"), "FS_COMMIT_FAILED");
    heal();
    assert.equal((await h.files.read(at("b"))).text(), "new");
    heal = store.fail(1, "before");
    await rejectsWith(h.files.remove(at("a")), "FS_COMMIT_FAILED");
    heal();
    await rejectsWith(h.files.read(at("a")), "FS_NOT_FOUND");
    assert.deepEqual(await pendingOf(h.main), ["deleted a", "created b"]);
    assert.equal(h.failures.length, 2, "onPersistenceError is called for host writes too");
    assertHolds(store.read(), { a: "old" });
    assertLanded(await h.persistence.commit(), { created: 1, deleted: 1 });
    assertHolds(store.read(), { b: "new" });
  });

  it(
    "a change that another program makes to the same end while ours waits is no conflict",
    { needs: canFail },
    async (t, h, store) => {
      const heal = await failedTurn(h, store);
      heal();
      store.write("made/1", "one");
      store.write("deep/changed", "new");
      store.remove("deleted");
      assertLanded((await inTurn(h.main)).persistence, { created: 1 });
      await assertDone(h, store);
    },
  );

  it("a session's info tells how many changes are pending", async (t, h) => {
    await leavePending(h.main, async (files) => {
      for (const name of ["a", "b", "c/d"]) await files.write(at(name), name);
    });
    assert.equal((await h.persistence.pending()).length, 3);
    assert.equal((await h.main.status()).pendingChanges, 3);
    assert.equal((await h.sessions.list()).find(({ id }) => id === "test").pendingChanges, 3);
    assertLanded(await h.persistence.commit(), { created: 3 });
    assert.equal((await h.main.status()).pendingChanges, 0);
  });

  it("pending tells content, age and attempts, oldest first", { needs: canFail }, async (t, h, store) => {
    const start = Date.now();
    await leavePending(h.main, (files) => files.write(at("z-first"), "first"));
    const [first] = await h.persistence.pending();
    assert.deepEqual(
      { ...first, since: undefined },
      {
        harnessDir: DIR,
        path: at("z-first"),
        change: "created",
        bytes: 5,
        sha256: sha256("first"),
        since: undefined,
        attempts: 0,
      },
    );
    assert.ok(first.since.getTime() >= start - 2000 && first.since.getTime() <= Date.now() + 2000);
    await leavePending(h.main, (files) => files.write(at("a-second"), "second"));
    assert.deepEqual(
      (await h.persistence.pending()).map(({ path }) => path),
      [at("z-first"), at("a-second")],
    );
    for (const attempts of [1, 2]) {
      const heal = store.fail(1, "before");
      assertFailed(await h.persistence.commit(), "FS_COMMIT_FAILED");
      heal();
      const [oldest] = await h.persistence.pending();
      if (!store.atomic) continue; // a store that writes file by file was not asked for the ones after the failure
      assert.equal(oldest.attempts, attempts);
      assert.equal(oldest.lastError.code, "FS_COMMIT_FAILED");
      assert.ok(oldest.lastError.message.length > 0);
      assert.equal(oldest.since.getTime(), first.since.getTime(), "its age is that of the change");
    }
  });
}

/** A retry sends nothing that is known to have landed, and names its changes as the first attempt did. */
function assertNoNeedlessCalls(store, before, { k, when }) {
  const after = store.commitCalls.slice(before.length);
  if (store.atomic) {
    // Applied and the answer lost: the load before the retry tells; else the same commit is sent again.
    for (const { commitId } of after)
      assert.equal(commitId, before[0].commitId, "the same changes have the same commitId");
    assert.ok(after.length <= 1, "sent once more at most");
    if (when === "before") assert.equal(after.length, 1);
    return;
  }
  const landed = new Set(before.filter((_, n) => n !== k - 1 || when === "after").map(({ path }) => path));
  for (const { path } of after) assert.ok(!landed.has(path), `${path} had landed and was sent again`);
}
