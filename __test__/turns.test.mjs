// Turns: one at a time in a session, each ended once, by whoever ends it first. See DESIGN section 7.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { rejectsWith, withHost } from "./support/host.mjs";
import { rootsSnapshot } from "./support/tree.mjs";
import { begin, nextTurnStarts } from "./support/turns.mjs";

test("turns of one session are one at a time, first come, first served, over all handles and hosts", async (t) => {
  const h = await withHost(t);
  const other = await h.session();
  const order = [];
  const first = await h.main.beginTurn();
  const waiting = [h.main, other, h.main, other].map(async (session, at) => {
    const turn = await session.beginTurn();
    order.push(at);
    await sleep(5);
    order.push(at);
    await (at % 2 === 0 ? turn.finish() : turn.abort());
  });
  await sleep(30);
  assert.deepEqual(order, [], "none begins before the first has ended");
  await first.finish();
  await Promise.all(waiting);
  assert.deepEqual(order, [0, 0, 1, 1, 2, 2, 3, 3]);

  const second = await withHost(t, { base: h.base });
  const mine = await h.main.beginTurn();
  const theirs = second.main.beginTurn();
  assert.equal(await Promise.race([theirs, sleep(50, "waits")]), "waits");
  await mine.abort();
  await (await theirs).finish();
});

test("turns of different sessions run side by side", async (t) => {
  const h = await withHost(t);
  const other = await h.session("other");
  const turns = await Promise.all([begin(t, h.main), begin(t, other)]);
  await Promise.all(turns.map((turn) => turn.finish()));
});

test("concurrentTurns reject: FS_BUSY while a turn runs, also in another host", async (t) => {
  const h = await withHost(t, { concurrentTurns: "reject" });
  const second = await withHost(t, { base: h.base, concurrentTurns: "reject" });
  const other = await h.session();
  const turn = await h.main.beginTurn();
  for (const session of [h.main, other, second.main]) await rejectsWith(session.beginTurn(), "FS_BUSY");
  await turn.files.write("/session/still.txt", "runs");
  await turn.finish();
  await (await other.beginTurn()).finish();
  await (await second.main.beginTurn()).abort();
});

test("options that make no sense", async (t) => {
  const h = await withHost(t);
  for (const concurrentTurns of ["wait", true, null])
    await assert.rejects(withHost(t, { concurrentTurns }), { code: "FS_INVALID_OPTION", message: /concurrentTurns/ });
  const circular = {};
  circular.self = circular;
  for (const options of [5, "x", { signal: {} }, { signal: 1 }, { metadata: [] }, { metadata: circular }]) {
    await rejectsWith(h.main.beginTurn(options), "FS_INVALID_OPTION");
  }
  const turn = await begin(t, h.main, { metadata: { request: "r1" } });
  for (const options of [5, { signal: {} }]) await rejectsWith(turn.finish(options), "FS_INVALID_OPTION");
  for (const mine of [5, { onFinish: 1 }, { onAbort: "x" }])
    assert.throws(() => turn.callbacks(mine), { code: "FS_INVALID_OPTION" });
  await turn.files.write("/session/a.txt", "the turn goes on");
  await turn.finish();
});

test("what the host says of a turn is an event with the turn's id, redacted; a turn without a word is none", async (t) => {
  const h = await withHost(t);
  await (await begin(t, h.main)).finish();
  assert.deepEqual(h.events, []);
  const turn = await begin(t, h.main, { metadata: { request: "r1", token: "hush" } });
  await turn.files.write("/session/a.txt", "a");
  await turn.finish();
  const [started, ...others] = h.events;
  assert.equal(started.type, "harness.turn.started");
  assert.deepEqual(started.metadata, { metadata: { request: "r1", token: "[redacted]" } });
  assert.ok(others.length > 0 && h.events.every(({ turnId }) => turnId === turn.id));
});

test("beginTurn inside a turn of the same session is FS_BUSY at once, inside another's it is not", async (t) => {
  const h = await withHost(t);
  const same = await h.session();
  const other = await h.session("other");
  const second = await withHost(t, { base: h.base });
  const turn = await begin(t, h.main);
  const started = performance.now();
  for (const session of [h.main, same, second.main]) {
    await rejectsWith(
      turn.run(() => session.beginTurn()),
      "FS_BUSY",
      { message: /inside a turn/ },
    );
  }
  const tools = turn.tools({ nest: { execute: () => same.beginTurn() } }, { offload: false });
  await rejectsWith(tools.nest.execute({}, {}), "FS_BUSY");
  await turn.run(async () => {
    const inner = await other.beginTurn();
    await inner.run(() => rejectsWith(h.main.beginTurn(), "FS_BUSY"));
    await inner.finish();
  });
  assert.ok(performance.now() - started < 2000, "none of them waited");
  const later = await turn.run(async () => {
    await turn.finish();
    return h.main.beginTurn(); // that turn has ended: nothing is to wait for
  });
  await later.abort();
});

test("finish: the first call decides, and is answered again and again", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  const [a, b] = await Promise.all([turn.finish(), turn.finish()]);
  assert.equal(a, b);
  assert.equal(await turn.finish(), a);
  await turn.abort(new Error("too late"));
  assert.equal(await turn.finish(), a);
  assert.deepEqual(a, {
    turnId: turn.id,
    persistence: { status: "not-configured" },
    files: { read: [], written: [], edited: [], removed: [] },
    commitManual: a.commitManual,
  });
  assert.deepEqual(await a.commitManual(), { status: "not-configured" });
  await nextTurnStarts(h.main);
});

test("abort: what was written stays, finish is FS_ABORTED from then on", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  await turn.files.write("/session/a.txt", "kept");
  const reason = new Error("why");
  await Promise.all([turn.abort(reason), turn.abort()]);
  const error = await rejectsWith(turn.finish(), "FS_ABORTED");
  assert.equal(error.cause, reason);
  assert.equal((await h.files.read("/session/a.txt")).text(), "kept");
  await nextTurnStarts(h.main);
});

test("await using aborts a turn, unless it was finished", async (t) => {
  const h = await withHost(t);
  const left = await h.main.beginTurn();
  await left[Symbol.asyncDispose]();
  await rejectsWith(left.finish(), "FS_ABORTED");
  const finished = await h.main.beginTurn();
  const finishing = finished.finish();
  await finished[Symbol.asyncDispose]();
  assert.equal(await finished.finish(), await finishing);
});

test("status and list show a running turn; delete is FS_BUSY and removes nothing", async (t) => {
  const h = await withHost(t);
  const states = async () => [
    (await h.main.status()).state,
    (await h.sessions.list()).find(({ id }) => id === "test").state,
  ];
  assert.deepEqual(await states(), ["idle", "idle"]);
  assert.deepEqual((await h.main.status()).stagedMessageIds, []);
  const turn = await h.main.beginTurn();
  await turn.files.write("/session/a.txt", "x");
  assert.deepEqual(await states(), ["running", "running"]);
  const before = rootsSnapshot(h.roots);
  await rejectsWith(h.sessions.delete("test"), "FS_BUSY");
  assert.deepEqual(rootsSnapshot(h.roots), before);
  await turn.abort();
  assert.deepEqual(await states(), ["idle", "idle"]);
  await h.sessions.delete("test");
});

test("callbacks end the turn, then call yours; errors of yours propagate", async (t) => {
  const h = await withHost(t);
  const seen = [];
  const mine = Object.fromEntries(
    ["onFinish", "onError", "onAbort"].map((name) => [
      name,
      async (event) => {
        await sleep(1);
        seen.push([name, event]);
      },
    ]),
  );
  const finished = await h.main.beginTurn();
  await finished.callbacks(mine).onFinish({ text: "done" });
  await finished.finish();
  const failed = await h.main.beginTurn();
  const error = new Error("model");
  await failed.callbacks(mine).onError({ error });
  assert.equal((await rejectsWith(failed.finish(), "FS_ABORTED")).cause, error);
  await failed.callbacks(mine).onFinish({ finishReason: "error" }); // what SDKs do after an error
  const aborted = await h.main.beginTurn();
  await aborted.callbacks(mine).onAbort({ steps: [] });
  assert.equal((await rejectsWith(aborted.finish(), "FS_ABORTED")).cause.name, "AbortError");
  assert.deepEqual(seen, [
    ["onFinish", { text: "done" }],
    ["onError", { error }],
    ["onFinish", { finishReason: "error" }],
    ["onAbort", { steps: [] }],
  ]);

  const broken = await h.main.beginTurn();
  const own = new Error("mine");
  await assert.rejects(
    broken
      .callbacks({
        onFinish: () => {
          throw own;
        },
      })
      .onFinish({}),
    (thrown) => thrown === own,
  );
  await broken.finish();
  for (const name of ["onFinish", "onError", "onAbort"]) {
    const turn = await h.main.beginTurn();
    await turn.callbacks()[name]({});
    await nextTurnStarts(h.main);
  }
});

test("extraBody: the turn's, else the handle's", async (t) => {
  const h = await withHost(t);
  const session = await h.session("test", { extraBody: { user: 1 } });
  const found = await h.sessions.get("test", { extraBody: { user: 2 } });
  const cases = [
    [session, {}, { user: 1 }],
    [session, { extraBody: { user: 3 } }, { user: 3 }],
    [found, undefined, { user: 2 }],
    [h.main, undefined, undefined],
  ];
  for (const [handle, options, expected] of cases) {
    const turn = await handle.beginTurn(options);
    assert.deepEqual(turn.context.extraBody, expected);
    assert.equal("extraBody" in turn.context, expected !== undefined);
    await turn.abort();
  }
});
