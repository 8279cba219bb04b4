// Worker threads: each may open hosts, and may end in the middle of a call, again and again, without harm to the process.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { tagOf } from "./support/content.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { leftovers } from "./support/tree.mjs";

const ROUNDS = Number(process.env.LF_WORKER_ROUNDS ?? 30);

for (const [title, how] of Object.entries({
  "only workers load the addon": "workers-only",
  "the main thread uses the same dataDir meanwhile": "beside-main",
  "four at a time, with streams both ways": "many",
})) {
  test(`terminated mid-write ${ROUNDS} times: ${title}`, { timeout: 180_000 }, async (t) => {
    const base = tempDir(t);
    const dataDir = path.join(base, "data");
    const end = await runChild(t, "terminating", [dataDir, how, ROUNDS], { limit: 150_000 });
    assert.deepEqual([end.code, end.signal], [0, null], `${end.stdout}${end.stderr}`);
    const { terminated, errors } = lastJson(end);
    assert.equal(terminated, ROUNDS);
    assert.deepEqual(errors, []);
    const h = await withHost(t, { base, sessionId: "workers" });
    for (const entry of await h.files.list("/session", { recursive: true })) {
      if (entry.kind === "file") assert.equal(tagOf((await h.files.read(entry.path)).content), path.basename(entry.path, ".bin"));
    }
    assert.deepEqual(leftovers(dataDir), []);
    await h.files.write("/session/last.bin", "works");
    await h.close();
    const staging = path.join(h.home, "staging");
    assert.deepEqual(fs.existsSync(staging) ? fs.readdirSync(staging) : [], []);
  });
}

test("a worker that ends by itself leaves the process able to end", { timeout: 60_000 }, async (t) => {
  const end = await runChild(t, "terminating", [path.join(tempDir(t), "data"), "finish", 5], { limit: 40_000 });
  assert.deepEqual([end.code, end.signal], [0, null], end.stderr);
  assert.deepEqual(lastJson(end), { terminated: 5, errors: [] });
});
