// Turns and Persistent Dirs: what beginTurn, finish, abort and commitManual do with several dirs, and with stores that fail,
// hang or call back. See DESIGN sections 6 and 7.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HarnessFileError, customDir } from "@little-stack/files";
import { rejectsWith } from "./support/host.mjs";
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
  withDirs,
  withStore,
} from "./support/persistent/session.mjs";
import { newStore, StoreFailure } from "./support/persistent/stores.mjs";
import { deferred, nextTurnStarts } from "./support/turns.mjs";

const A = "/persistent/a";
const B = "/persistent/b";
const M = "/persistent/manual";
const R = "/persistent/read-only";

/** Four dirs: two that commit after a turn, a manual and a read-only one. */
async function four(t, kind = "cursor", options = {}) {
  const stores = {};
  const dirs = [];
  for (const [harnessDir, commit] of [
    [A, undefined],
    [B, "after-turn"],
    [M, "manual"],
    [R, "read-only"],
  ]) {
    stores[harnessDir] = await newStore(kind)(t);
    stores[harnessDir].write("base.txt", "base");
    dirs.push(stores[harnessDir].dir({ harnessDir, commit }));
  }
  return { ...(await withDirs(t, dirs, options)), stores };
}

const changes = (created = 0, updated = 0, deleted = 0) => ({ created, updated, deleted });
const byDir = (status) => Object.fromEntries(status.commits.map(({ harnessDir, ...rest }) => [harnessDir, rest]));

test("finish tells of every dir; commitManual of the manual ones", async (t) => {
  const h = await four(t);
  const finished = await inTurn(h.main, async (files) => {
    await files.write(`${A}/a.txt`, "a");
    await files.write(`${M}/m.txt`, "m");
  });
  assert.equal(finished.persistence.status, "succeeded");
  assert.deepEqual(byDir(finished.persistence), {
    [A]: { commit: "after-turn", status: "succeeded", changes: changes(1) },
    [B]: { commit: "after-turn", status: "succeeded", changes: changes() },
    [M]: { commit: "manual", status: "skipped" },
    [R]: { commit: "read-only", status: "skipped" },
  });
  assertHolds(h.stores[M].read(), { "base.txt": "base" });
  const manual = await finished.commitManual();
  assert.deepEqual(byDir(manual)[M], { commit: "manual", status: "succeeded", changes: changes(1) });
  for (const dir of [A, B, R]) assert.equal(byDir(manual)[dir]?.status ?? "skipped", "skipped");
  assertHolds(h.stores[M].read(), { "base.txt": "base", "m.txt": "m" });
  assert.equal(h.stores[B].commitCalls.length, 0, "nothing changed there: nothing was called");
  assert.deepEqual(h.failures, []);
});

test("persistence.commit: all but read-only dirs, or those named", async (t) => {
  const h = await four(t);
  await leavePending(h.main, async (files) => {
    for (const dir of [A, B, M]) await files.write(`${dir}/x.txt`, dir);
  });
  const named = await h.persistence.commit({ harnessDirs: [B] });
  assertLanded(named);
  assert.deepEqual(byDir(named)[B], { commit: "after-turn", status: "succeeded", changes: changes(1) });
  assert.equal(h.stores[B].read().has("x.txt"), true);
  assert.equal(h.stores[A].read().has("x.txt") || h.stores[M].read().has("x.txt"), false);
  const rest = await h.persistence.commit();
  assertLanded(rest);
  assert.deepEqual(
    [byDir(rest)[A].changes, byDir(rest)[B].changes, byDir(rest)[M].changes],
    [changes(1), changes(), changes(1)],
  );
  assert.deepEqual(await h.persistence.pending(), []);
});

test("one dir that fails does not hold up the others", async (t) => {
  for (const failing of [A, B]) {
    const h = await four(t);
    h.stores[failing].fail(1, "before");
    const other = failing === A ? B : A;
    const finished = await inTurn(h.main, async (files) => {
      for (const dir of [A, B]) await files.write(`${dir}/x.txt`, dir);
    });
    const error = assertFailed(finished.persistence, "FS_COMMIT_FAILED", failing);
    assert.equal(error.cause.name, "StoreFailure");
    assert.equal(finished.persistence.failedCommits.length, 1);
    assert.deepEqual(byDir(finished.persistence)[other], {
      commit: "after-turn",
      status: "succeeded",
      changes: changes(1),
    });
    assert.equal(h.stores[other].read().has("x.txt"), true);
    assert.deepEqual(await pendingOf(h.main, failing), ["created x.txt"]);
    assert.deepEqual(await pendingOf(h.main, other), []);
    assert.equal(h.failures.length, 1);
    const { error: told, ...failure } = h.failures[0];
    assert.ok(told instanceof HarnessFileError);
    assert.equal(told.code, "FS_COMMIT_FAILED");
    assert.equal(failure.sessionId, "test");
    assert.deepEqual([failure.harnessDir, failure.commit, failure.status], [failing, "after-turn", "failed"]);
    await nextTurnStarts(h.main);
  }
});

test("two dirs that fail: both are told, each once", async (t) => {
  const h = await four(t, "files");
  for (const dir of [A, B]) h.stores[dir].fail(1, "before");
  const finished = await inTurn(h.main, async (files) => {
    for (const dir of [A, B]) await files.write(`${dir}/x.txt`, dir);
  });
  assertFailed(finished.persistence, "FS_COMMIT_FAILED", A);
  assertFailed(finished.persistence, "FS_COMMIT_FAILED", B);
  assert.deepEqual(h.failures.map(({ harnessDir }) => harnessDir).sort(), [A, B]);
});

test("finish is answered again, and commits once", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a"), "a");
  const [first, second] = await Promise.all([turn.finish(), turn.finish()]);
  assert.equal(first, second);
  assert.equal(await turn.finish(), first);
  assert.equal(store.commitCalls.length, 1);
  await turn.abort();
  assert.deepEqual(await pendingOf(h.main), []);
});

test("a turn that is aborted, disposed or failed by its SDK commits nothing and loses nothing", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  const ends = {
    abort: (turn) => turn.abort(),
    dispose: (turn) => turn[Symbol.asyncDispose](),
    onError: (turn) => turn.callbacks().onError({ error: new Error("model") }),
    onAbort: (turn) => turn.callbacks().onAbort({ steps: [] }),
  };
  for (const [name, end] of Object.entries(ends)) {
    const turn = await h.main.beginTurn();
    await turn.files.write(at(name), "kept");
    await end(turn);
    await rejectsWith(turn.finish(), "FS_ABORTED");
  }
  assert.equal(store.commitCalls.length, 0);
  assert.deepEqual(
    await pendingOf(h.main),
    Object.keys(ends)
      .sort()
      .map((name) => `created ${name}`),
  );
  const turn = await h.main.beginTurn();
  await turn.callbacks().onFinish({});
  assertHolds(store.read(), Object.fromEntries(Object.keys(ends).map((name) => [name, "kept"])));
  assert.deepEqual(await pendingOf(h.main), []);
});

test("turn options: the signal of a turn aborts it, its changes stay pending", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  const controller = new AbortController();
  const turn = await h.main.beginTurn({ signal: controller.signal });
  await turn.files.write(at("a"), "a");
  controller.abort(new Error("left"));
  await rejectsWith(turn.finish(), "FS_ABORTED");
  assert.deepEqual(await pendingOf(h.main), ["created a"]);
  assertHolds(store.read(), {});
  await nextTurnStarts(h.main);
});

// ── Loads ──

test("one load that fails: beginTurn rejects, no turn is open, the old checkouts stay", async (t) => {
  const h = await four(t);
  await inTurn(h.main, (files) => files.write(`${A}/a.txt`, "a"));
  await leavePending(h.main, (files) => files.write(`${A}/base.txt`, "pending"));
  const failure = new StoreFailure("down");
  h.stores[A].write("a.txt", "theirs");
  h.stores[A].failLoads.push(failure);
  const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  assert.equal(error.cause, failure);
  assert.match(error.message, /\/persistent\/a/, "it says which dir");
  assertHolds(filesOf(h.roots.persistent[A]), { "base.txt": "pending", "a.txt": "a" });
  assert.equal((await h.main.status()).state, "idle");
  await inTurn(h.main, async (files) => assert.equal((await files.read(`${A}/a.txt`)).text(), "theirs"));
});

test("no turn is open after a failing load, also for those who may not wait", async (t) => {
  const store = await newStore("map")(t);
  const h = await withStore(t, store, { concurrentTurns: "reject" });
  store.failLoads.push(new StoreFailure("down"));
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  await (await h.main.beginTurn()).finish();
});

test("an access whose load fails rejects with it; the next one loads again", async (t) => {
  const store = await newStore("map")(t);
  const h = await withStore(t, store);
  store.write("a", "a");
  for (const access of [
    () => h.files.read(at("a")),
    () => h.files.write(at("a"), "x"),
    () => h.files.list(DIR),
    () => h.files.stat(at("a")),
    () => h.files.remove(at("a")),
    () => h.files.list("/persistent", { recursive: true }),
  ]) {
    store.failLoads.push(new StoreFailure("down"));
    await rejectsWith(access, "FS_LOAD_FAILED");
  }
  assertHolds(store.read(), { a: "a" });
  assertHolds(filesOf(h.checkout), {});
  await h.files.write("/session/x.txt", "elsewhere all is well");
  assert.equal((await h.files.read(at("a"))).text(), "a");
});

test("the dirs of a turn load at once, not one after the other", { timeout: 20_000 }, async (t) => {
  const started = [deferred(), deferred()];
  const dir = (n) =>
    customDir({
      harnessDir: `/persistent/${n}`,
      load: async () => {
        started[n].resolve();
        await started[1 - n].promise;
        return { "who.txt": String(n) };
      },
      store: async () => {},
    });
  const h = await withDirs(t, [dir(0), dir(1)]);
  const turn = await h.main.beginTurn();
  assert.equal((await turn.files.read("/persistent/1/who.txt")).text(), "1");
  await turn.abort();
});

test("many accesses at once load once", async (t) => {
  const store = await newStore("map")(t);
  store.write("a", "a");
  const h = await withStore(t, store);
  const other = await h.session();
  await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? h.main : other).files.read(at("a"))));
  assert.equal(store.calls.filter(({ call }) => call === "load").length, 1);
});

test("a load that hangs ends with the signal", { timeout: 20_000 }, async (t) => {
  let seen;
  const forever = (ctx) => {
    seen = ctx.abortSignal;
    return new Promise((_, reject) => {
      ctx.abortSignal.addEventListener("abort", () => reject(ctx.abortSignal.reason));
    });
  };
  let hangs = true;
  const load = async (ctx) => (hangs ? forever(ctx) : { "a.txt": "a" });
  const h = await withDirs(t, [customDir({ harnessDir: DIR, load, store: async () => {} })]);
  const controller = new AbortController();
  const reason = new Error("left");
  setTimeout(() => controller.abort(reason), 50);
  const error = await rejectsWith(h.main.beginTurn({ signal: controller.signal }), "FS_ABORTED");
  assert.equal(error.cause, reason);
  assert.equal(seen.aborted, true);
  hangs = false;
  await inTurn(h.main, async (files) => assert.equal((await files.read(at("a.txt"))).text(), "a"));
});

test("finish with a signal while a store hangs: it ends, the change stays", { timeout: 20_000 }, async (t) => {
  let hangs = true;
  let given;
  const store = async (ctx) => {
    if (hangs)
      await new Promise((_, reject) => {
        ctx.abortSignal.addEventListener("abort", () => reject(ctx.abortSignal.reason));
      });
    given = ctx.changes.created["a.txt"];
  };
  const h = await withDirs(t, [customDir({ harnessDir: DIR, load: async () => ({}), store })]);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a.txt"), "a");
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  const ended = await turn.finish({ signal: controller.signal }).then(
    ({ persistence }) => persistence.status,
    (error) => error.code,
  );
  assert.ok(["failed", "FS_ABORTED"].includes(ended), ended);
  assert.deepEqual(await pendingOf(h.main), ["created a.txt"]);
  hangs = false;
  assertLanded(await h.persistence.commit(), { created: 1 });
  assert.equal(Buffer.from(given).toString(), "a");
  await nextTurnStarts(h.main);
});

// ── Sinks ──

test("sinks that throw or reject change nothing", async (t) => {
  for (const bad of [
    () => {
      throw new Error("sink");
    },
    async () => {
      throw new Error("sink, later");
    },
  ]) {
    const store = await newStore("cursor")(t);
    let told = 0;
    const onPersistenceError = () => {
      told++;
      return bad();
    };
    const onEvent = () => {
      throw new Error("sink");
    };
    const h = await withStore(t, store, { onPersistenceError, onEvent });
    store.write("a", "old");
    const turn = await h.main.beginTurn();
    await turn.files.write(at("a"), "new");
    store.fail(1, "before");
    assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
    assert.equal(told, 1);
    assert.deepEqual(await pendingOf(h.main), ["updated a"]);
    store.fail(1, "before");
    await rejectsWith(h.files.write(at("b"), "b"), "FS_COMMIT_FAILED");
    assert.equal(told, 2);
    assertLanded(await h.persistence.commit(), { created: 1, updated: 1 });
    assertHolds(store.read(), { a: "new", b: "b" });
  }
});

test("a failed commit is no part of what the model gets", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  store.fail(1, "before");
  const turn = await h.main.beginTurn();
  const { save } = turn.tools({ save: { execute: () => turn.files.write(at("a"), "a").then(() => "saved") } });
  assert.equal(await save.execute({}, { toolCallId: "c1", messages: [] }), "saved");
  assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
  const next = await h.main.beginTurn();
  assert.equal(next.context.extraBody, undefined);
  assert.deepEqual((await next.files.list("/artifacts")).length, 0);
  await next.abort();
});

// ── Callbacks that call back ──

test(
  "a call on the dir from inside its own callbacks is FS_BUSY at once, elsewhere it works",
  { timeout: 30_000 },
  async (t) => {
    const seen = {};
    let session;
    const reenter = async (what) => {
      const codeOf = (promise) =>
        promise.then(
          () => "fine",
          (error) => error.code,
        );
      seen[what] = {
        write: await codeOf(session.files.write(at("x.txt"), "x")),
        remove: await codeOf(session.files.remove(at("a.txt"))),
        pending: await codeOf(session.persistence.pending()),
        conflicts: await codeOf(session.persistence.conflicts()),
        commit: await codeOf(session.persistence.commit()),
        discard: await codeOf(session.persistence.discard({ harnessDirs: [DIR] })),
        resolve: await codeOf(session.persistence.resolve(at("a.txt"), "ours")),
        elsewhere: await codeOf(session.files.write(`/session/${what}.txt`, "log")),
      };
    };
    const held = new Map([["a.txt", "a"]]);
    const shapes = {
      "load/store": {
        load: async () => {
          await reenter("load");
          return new Map(held);
        },
        store: async () => reenter("store"),
      },
      "list/read/write/delete": {
        list: async () => {
          await reenter("list");
          return [...held.keys()].map((path) => ({ path, kind: "file" }));
        },
        read: async ({ path }) => {
          await reenter("read");
          return held.get(path);
        },
        write: async () => reenter("write"),
        delete: async () => reenter("delete"),
      },
    };
    const started = performance.now();
    for (const [shape, callbacks] of Object.entries(shapes)) {
      const h = await withDirs(t, [customDir({ harnessDir: DIR, ...callbacks })]);
      session = h.main;
      await inTurn(h.main, async (files) => {
        await files.write(at("new.txt"), "new");
        await files.remove(at("a.txt"));
      });
      for (const what of shape.split("/")) {
        const { elsewhere, ...inside } = seen[what];
        assert.equal(elsewhere, "fine", `${what}: /session is free`);
        assert.deepEqual([...new Set(Object.values(inside))], ["FS_BUSY"], `${what}: ${JSON.stringify(inside)}`);
      }
    }
    assert.ok(performance.now() - started < 20_000, "none of them waited for a lock");
  },
);

test("what a shell writes while the commit is on its way is a new change", async (t) => {
  for (const kind of ["cursor", "files", "plain"]) {
    const store = await newStore(kind)(t);
    for (const name of ["a", "b"]) store.write(name, "old");
    const h = await withStore(t, store);
    const turn = await h.main.beginTurn();
    for (const name of ["a", "b"]) await turn.files.write(at(name), "sent");
    store.onCall = ({ call }) => {
      if (call !== "store" && call !== "write") return;
      store.onCall = undefined;
      shell.write(h.checkout, "a", "later");
      shell.write(h.checkout, "b", "later");
      shell.write(h.checkout, "c", "later");
    };
    assertLanded((await finish(turn)).persistence, { updated: 2 });
    assertHolds(store.read(), { a: "sent", b: "sent" }, "what was staged is what was sent");
    assert.deepEqual(await pendingOf(h.main), ["updated a", "updated b", "created c"]);
    assertLanded(await h.persistence.commit(), { created: 1, updated: 2 });
    assertHolds(store.read(), { a: "later", b: "later", c: "later" });
  }
});

test("a host write under the dir while a commit runs waits, and is not lost", { timeout: 30_000 }, async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  await leavePending(h.main, (files) => files.write(at("a"), "a"));
  let meanwhile;
  store.onCall = ({ call }) => {
    if (call !== "store") return;
    store.onCall = undefined;
    // Not from inside the callback as far as the package can tell: another task of the program.
    meanwhile = other();
  };
  const other = outside(() => h.files.write(at("b"), "b"));
  assertLanded(await h.persistence.commit());
  await meanwhile;
  assertLanded(await h.persistence.commit());
  assertHolds(store.read(), { a: "a", b: "b" });
});

/** Binds a function to the async context of here, whatever it is called from. */
function outside(run) {
  const start = deferred();
  const done = start.promise.then(run);
  return () => {
    start.resolve();
    return done;
  };
}

test("closing with changes pending keeps them", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store);
  await leavePending(h.main, (files) => files.write(at("a"), "a"));
  await h.main.close();
  for (const call of [
    () => h.persistence.pending(),
    () => h.persistence.commit(),
    () => h.persistence.conflicts(),
    () => h.persistence.resolve(at("a"), "ours"),
    () => h.persistence.discard({ paths: [at("a")] }),
  ])
    await rejectsWith(call, "FS_CLOSED");
  const again = await h.session();
  assert.deepEqual(await pendingOf(again), ["created a"]);
  assertLanded(await again.persistence.commit(), { created: 1 });
});

test("commitManual after later turns, and after the handle was closed", async (t) => {
  const store = await newStore("cursor")(t);
  const h = await withStore(t, store, { commit: "manual" });
  const first = await inTurn(h.main, (files) => files.write(at("a"), "a"));
  const second = await inTurn(h.main, (files) => files.write(at("b"), "b"));
  assertLanded(await first.commitManual(), { created: 2 });
  assertLanded(await second.commitManual(), { created: 0 });
  const third = await inTurn(h.main, (files) => files.write(at("c"), "c"));
  await h.main.close();
  await rejectsWith(third.commitManual(), "FS_CLOSED");
  assert.deepEqual(await pendingOf(await h.session()), ["created c"]);
});
