// One turn at a time in a session, in all processes; whoever dies inside one frees it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { rejectsWith, withHost } from "./support/host.mjs";
import { lastJson, runChild, startChild } from "./support/process.mjs";
import { nextTurnStarts } from "./support/turns.mjs";

test("turns of two processes and of this one never overlap", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  const each = 25;
  await h.files.writeJSON("/session/count.json", 0);
  const children = [0, 1].map(() => startChild(t, "turning", [h.dataDir, "count", each]));
  for (let at = 0; at < each; at++) {
    const turn = await h.main.beginTurn();
    const count = (await turn.files.read("/session/count.json")).json();
    await turn.files.writeJSON("/session/count.json", count + 1);
    await turn.finish();
  }
  const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
  t.diagnostic(`longest waits: ${results.map(({ longest }) => longest)} ms`);
  assert.equal((await h.files.read("/session/count.json")).json(), 3 * each, "none was lost");
});

test(
  "while another process has a turn: queue waits, reject and delete are FS_BUSY, host writes go on",
  { timeout: 60_000 },
  async (t) => {
    const h = await withHost(t);
    const holder = startChild(t, "turning", [h.dataDir, "hold"]);
    await holder.line("held");
    assert.deepEqual(lastJson(await runChild(t, "turning", [h.dataDir, "reject"])), { code: "FS_BUSY" });
    await rejectsWith(h.sessions.delete("test"), "FS_BUSY");
    assert.equal((await h.files.read("/session/held.txt")).text(), "written before the end");
    await h.files.write("/session/host.txt", "beside it");
    const reason = new Error("waited long enough");
    const controller = new AbortController();
    const given = rejectsWith(h.main.beginTurn({ signal: controller.signal }), "FS_ABORTED");
    setTimeout(() => controller.abort(reason), 50);
    assert.equal((await given).cause, reason);
    const waiting = h.main.beginTurn();
    assert.equal(await Promise.race([waiting, sleep(100, "waits")]), "waits");
    assert.equal((await h.main.status()).state, "idle", "no turn of this process runs");
    holder.send("finish");
    await holder.line("finished");
    await (await waiting).finish();
  },
);

test("a process that is killed inside a turn frees it, and what it wrote is there", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  const holder = startChild(t, "turning", [h.dataDir, "hold"]);
  await holder.line("held");
  const waiting = h.main.beginTurn();
  assert.equal(await Promise.race([waiting, sleep(50, "waits")]), "waits");
  holder.kill("SIGKILL");
  await holder.ended;
  const turn = await waiting;
  assert.equal((await turn.files.read("/session/held.txt")).text(), "written before the end");
  await turn.finish();
});

test("a worker thread that ends inside a turn frees it", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  const worker = new Worker(new URL("children/turn-worker.mjs", import.meta.url), { workerData: h.dataDir });
  await once(worker, "message");
  const waiting = h.main.beginTurn();
  assert.equal(await Promise.race([waiting, sleep(50, "waits")]), "waits");
  await worker.terminate();
  await (await waiting).finish();
  await nextTurnStarts(h.main);
});
