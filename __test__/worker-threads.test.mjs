// Worker threads: each may open hosts, and may end in the middle of a call, again and again, without harm to the process or a file.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { tagOf } from "./support/content.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { leftovers } from "./support/tree.mjs";

const ROUNDS = Number(process.env.LF_WORKER_ROUNDS ?? 30);
/** glibc then overwrites what is freed, so that a write out of memory which the worker's end has freed shows (elsewhere without effect). */
const OVERWRITE_FREED = { MALLOC_PERTURB_: "90", MALLOC_MMAP_THRESHOLD_: String(2 ** 30) };

for (const [title, how] of Object.entries({
  "only workers load the addon": "workers-only",
  "the main thread uses the same dataDir meanwhile": "beside-main",
  "four at a time, with streams both ways": "many",
  "many streams at a time, whose last batches still wait for a thread": "streams",
})) {
  test(`terminated mid-write ${ROUNDS} times: ${title}`, { timeout: 180_000 }, async (t) => {
    const base = tempDir(t);
    const dataDir = path.join(base, "data");
    const end = await runChild(t, "terminating", [dataDir, how, ROUNDS], { limit: 150_000, env: OVERWRITE_FREED });
    assert.deepEqual([end.code, end.signal, end.stderr], [0, null, ""], end.stdout);
    const { terminated, errors } = lastJson(end);
    assert.deepEqual(errors, [], "every file is the whole content of one write");
    assert.equal(terminated, ROUNDS);
    const h = await withHost(t, { base, sessionId: "workers" });
    for (const entry of await h.files.list("/session", { recursive: true })) {
      if (entry.kind === "file")
        assert.equal(tagOf((await h.files.read(entry.path)).content), path.basename(entry.path, ".bin"));
    }
    assert.deepEqual(leftovers(dataDir), []);
    await h.files.write("/session/last.bin", "works");
    await h.close();
    assert.deepEqual(fs.readdirSync(path.join(h.home, "staging")), []);
  });
}

test("a worker that ends by itself leaves the process able to end", { timeout: 60_000 }, async (t) => {
  const end = await runChild(t, "terminating", [path.join(tempDir(t), "data"), "finish", 5], {
    limit: 40_000,
    env: OVERWRITE_FREED,
  });
  assert.deepEqual([end.code, end.signal, end.stderr], [0, null, ""], end.stdout);
  assert.deepEqual(lastJson(end), { terminated: 5, errors: [] });
});
