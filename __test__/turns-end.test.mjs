// How a turn ends: by finish, abort, a signal, its session or its host; and what is left of its calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tryHarnessToolContext } from "@little-stack/files";
import { rejectsWith, withHost } from "./support/host.mjs";
import { rootsSnapshot } from "./support/tree.mjs";
import { deferred, nextTurnStarts } from "./support/turns.mjs";

const calls = {
  write: (files) => files.write("/session/a.txt", "x"),
  writeText: (files) => files.writeText("/session/a.txt", "x"),
  writeJSON: (files) => files.writeJSON("/session/a.txt", 1),
  read: (files) => files.read("/session/a.txt"),
  readStream: (files) => files.readStream("/session/a.txt"),
  stat: (files) => files.stat("/session/a.txt"),
  list: (files) => files.list("/session"),
  remove: (files) => files.remove("/session/a.txt"),
};
for (const end of ["finish", "abort"]) {
  test(`after ${end} the turn's files, tools and artifacts are FS_CLOSED; the session's are not; nothing changes`, async (t) => {
    const h = await withHost(t);
    const turn = await h.main.beginTurn();
    await turn.files.write("/session/a.txt", "there");
    const stream = await turn.files.readStream("/session/a.txt");
    const context = turn.run(() => tryHarnessToolContext());
    const ran = [];
    const { tool } = turn.tools({ tool: { execute: () => ran.push("ran") } });
    const bare = turn.tools({ tool: { execute: () => ran.push("ran") } }, { offload: false }).tool;
    await turn[end]();
    const before = rootsSnapshot(h.roots);
    for (const call of Object.values(calls)) {
      await rejectsWith(call(turn.files), "FS_CLOSED", { message: /turn has ended/ });
      await rejectsWith(call(context.files), "FS_CLOSED");
    }
    await rejectsWith(context.artifacts.list(), "FS_CLOSED");
    await rejectsWith(context.artifacts.read("/artifacts/x"), "FS_CLOSED");
    await rejectsWith(tool.execute({}, {}), "FS_CLOSED");
    await rejectsWith(bare.execute({}, {}), "FS_CLOSED");
    await rejectsWith(
      turn.track(async () => ran.push("ran")),
      "FS_CLOSED",
    );
    await assert.rejects(new Response(stream).text(), (error) => /FS_CLOSED|FS_ABORTED/.test(error.code));
    assert.deepEqual(ran, []);
    assert.deepEqual(rootsSnapshot(h.roots), before);
    assert.equal((await h.files.read("/session/a.txt")).text(), "there");
  });
}

test("finish waits for the turn's calls that run; abort ends them", async (t) => {
  const h = await withHost(t);
  const gate = deferred();
  const slow = async function* () {
    yield "begun ";
    await gate.promise;
    yield "ended";
  };
  const turn = await h.main.beginTurn();
  const writing = turn.files.write("/session/slow.txt", slow());
  const finishing = turn.finish();
  assert.equal(await Promise.race([finishing, sleep(30, "waits")]), "waits");
  gate.resolve();
  assert.deepEqual((await finishing).files.written, ["/session/slow.txt"]);
  await writing;

  const next = await h.main.beginTurn();
  const reason = new Error("enough");
  const never = next.files.write(
    "/session/never.txt",
    (async function* () {
      yield "x";
      await new Promise(() => {});
    })(),
  );
  const aborted = rejectsWith(never, "FS_ABORTED").then((error) => assert.equal(error.cause, reason));
  await next.abort(reason);
  await aborted;
  await rejectsWith(h.files.stat("/session/never.txt"), "FS_NOT_FOUND");
  await nextTurnStarts(h.main);
});

test("finish with a signal: the wait ends, the turn is over, nothing half written is seen", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  const never = rejectsWith(
    turn.files.write(
      "/session/never.txt",
      (async function* () {
        yield "x";
        await new Promise(() => {});
      })(),
    ),
    "FS_ABORTED",
  );
  const reason = new Error("no time left");
  const controller = new AbortController();
  const finishing = turn.finish({ signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  const error = await rejectsWith(finishing, "FS_ABORTED");
  assert.equal(error.cause, reason);
  await never;
  await rejectsWith(turn.finish(), "FS_ABORTED");
  await rejectsWith(h.files.stat("/session/never.txt"), "FS_NOT_FOUND");
  await nextTurnStarts(h.main);
  const early = await h.main.beginTurn();
  await rejectsWith(early.finish({ signal: AbortSignal.abort(reason) }), "FS_ABORTED");
  await nextTurnStarts(h.main);
});

test("beginTurn's signal aborts the turn, also while it waits, and has no effect afterwards", async (t) => {
  const h = await withHost(t);
  const reason = new Error("gone");
  for (const session of [h.main, await h.session()])
    await rejectsWith(session.beginTurn({ signal: AbortSignal.abort(reason) }), "FS_ABORTED");
  const controller = new AbortController();
  const turn = await h.main.beginTurn({ signal: controller.signal });
  const second = new AbortController();
  const waiting = rejectsWith(h.main.beginTurn({ signal: second.signal }), "FS_ABORTED");
  const after = h.main.beginTurn();
  second.abort(reason);
  assert.equal((await waiting).cause, reason);
  controller.abort(reason);
  const error = await rejectsWith(turn.finish(), "FS_ABORTED");
  assert.equal(error.cause, reason);
  await (await after).finish();

  const late = new AbortController();
  const done = await h.main.beginTurn({ signal: late.signal });
  await done.finish();
  late.abort();
  await done.finish();
});

test("one signal may serve many turns without a warning", async (t) => {
  const h = await withHost(t);
  const warnings = [];
  const onWarning = (warning) => warnings.push(warning);
  process.on("warning", onWarning);
  const { signal } = new AbortController();
  for (let round = 0; round < 30; round++) await (await h.main.beginTurn({ signal })).finish();
  const sessions = await Promise.all(Array.from({ length: 30 }, (_, at) => h.session(`s${at}`)));
  const turns = await Promise.all(sessions.map((session) => session.beginTurn({ signal })));
  await Promise.all(turns.map((turn) => turn.abort()));
  await sleep(5);
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("session.close aborts its running turn and those that wait; another handle's turn goes on", async (t) => {
  const h = await withHost(t);
  const other = await h.session();
  const turn = await h.main.beginTurn();
  const waiting = rejectsWith(h.main.beginTurn(), "FS_CLOSED");
  const theirs = other.beginTurn();
  const never = rejectsWith(
    turn.files.write(
      "/session/x",
      (async function* () {
        yield "x";
        await new Promise(() => {});
      })(),
    ),
    "FS_ABORTED",
  );
  await h.main.close();
  await Promise.all([waiting, never]);
  await rejectsWith(turn.finish(), "FS_ABORTED");
  await rejectsWith(turn.files.list("/session"), "FS_CLOSED");
  await rejectsWith(h.main.beginTurn(), "FS_CLOSED");
  const next = await theirs;
  await next.files.write("/session/a.txt", "goes on");
  await next.finish();
});

test("host.close aborts running turns and waits for a finish that has begun", async (t) => {
  const h = await withHost(t);
  const other = await h.session("other");
  const running = await h.main.beginTurn();
  const ending = await other.beginTurn();
  await ending.files.write("/session/a.txt", "x");
  const finishing = ending.finish();
  await h.close();
  assert.deepEqual((await finishing).files.written, ["/session/a.txt"]);
  await rejectsWith(running.finish(), "FS_ABORTED");
});
