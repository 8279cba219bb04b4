// A message is staged once, whoever else stages it at the same time: in this process, in another, and after one was killed.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";

const user = (id, text = id) => ({
  id,
  role: "user",
  parts: [{ type: "file", filename: "a.txt", mediaType: "text/plain", url: `data:,${text}` }],
});
const pause = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

test("in one process: on one handle, on several, on several hosts", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const [h, other] = [await withHost(t, { base }), await withHost(t, { base })];
  const sessions = [h.main, await h.session(), other.main];
  const calls = [];
  let running = 0;
  const stageMessage = async ({ message, inputFiles: [file], files }) => {
    assert.equal((running += 1), 1, "one hook at a time");
    calls.push(message.id);
    await pause(5);
    const stagedFiles = [await files.write(`/session/${message.id}.txt`, file.content)];
    running -= 1;
    return { stagedFiles, notice: `call ${calls.length}` };
  };
  const messages = Array.from({ length: 10 }, (_, at) => user(`m${at}`));
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, at) => sessions[at % 3].stageMessages(messages, { stageMessage })),
  );
  assert.deepEqual(
    calls,
    messages.map(({ id }) => id),
  );
  for (const { messages: copies, notices } of results) {
    assert.deepEqual(copies, results[0].messages);
    assert.deepEqual(
      notices,
      messages.map((_, at) => `call ${at + 1}`),
    );
  }
  assert.equal(results.flatMap(({ staged }) => staged).length, 10);
});

test("a call that failed lets the next one try", async (t) => {
  const { main } = await withHost(t);
  let tries = 0;
  const stageMessage = async () => {
    tries += 1;
    await pause(5);
    if (tries < 3) throw new Error("not yet");
    return { notice: `try ${tries}` };
  };
  const results = await Promise.allSettled(
    [0, 1, 2, 3, 4].map(() => main.stageMessages([user("m1")], { stageMessage })),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected", "fulfilled", "fulfilled", "fulfilled"],
  );
  assert.equal(tries, 3);
});

test("in two processes", { timeout: 120_000 }, async (t) => {
  const base = tempDir(t);
  const dataDir = path.join(base, "data");
  const count = 60;
  const children = ["one", "two"].map((name) => startChild(t, "staging", [dataDir, name, count]));
  const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
  const all = results.flatMap(({ mine }) => mine);
  t.diagnostic(`staged by each: ${results.map(({ mine }) => mine.length)}`);
  assert.ok(
    results.every(({ mine }) => mine.length > 0),
    "both had their turn",
  );
  assert.equal(new Set(all).size, count + 2);
  assert.equal(all.length, count + 2, "none twice");
  assert.deepEqual(results[0].notices, results[1].notices, "both tell their models the same");
  const h = await withHost(t, { base, sessionId: "staging" });
  for (let at = 0; at < count + 2; at++) assert.equal((await h.files.read(`/session/m${at}.txt`)).text(), String(at));
});

test(
  "killed inside the hook: the message does not count, and the next one gets its turn",
  { timeout: 60_000 },
  async (t) => {
    const base = tempDir(t);
    const dataDir = path.join(base, "data");
    const child = startChild(t, "staging", [dataDir, "killed", 1, "hang"]);
    await child.line("in hook");
    const h = await withHost(t, { base, sessionId: "staging" });
    const waiting = h.main.stageMessages([user("m0", "0")]);
    const first = await Promise.race([waiting, pause(300)]);
    assert.equal(first, undefined, "it waits for the other process");
    child.kill("SIGKILL");
    const { staged } = await waiting;
    assert.deepEqual(
      staged.map(({ messageId }) => messageId),
      ["m0"],
    );
  },
);
