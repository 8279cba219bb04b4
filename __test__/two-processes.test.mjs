// Two processes on one folder, writing, opening (each open sweeps) and deleting: nothing fails but FS_BUSY, nothing is left.
// LF_SOAK_SECONDS: 20 by default; 60 and more before a release.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";
import { tagOf } from "./support/content.mjs";
import { leftovers, sha256 } from "./support/tree.mjs";

const seconds = Number(process.env.LF_SOAK_SECONDS ?? 20);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);

test(
  `two hosts in two processes for ${seconds} s (LF_SEED=${seed})`,
  { timeout: seconds * 1000 + 120_000 },
  async (t) => {
    const base = tempDir(t);
    const dataDir = path.join(base, "data");
    const children = [0, 1].map((at) => startChild(t, "soak", [dataDir, seconds, seed + at, `p${at}`]));
    const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
    t.diagnostic(JSON.stringify(results.map(({ done, allowed }) => ({ done, allowed }))));
    for (const { failures, done } of results) {
      assert.deepEqual(failures.slice(0, 3), [], `${failures.length} failures`);
      assert.ok(done.write > 50 && done.open > 5 && done.delete > 0, JSON.stringify(done));
    }
    const h = await withHost(t, { base });
    for (const { id } of await h.sessions.list({ limit: 1000 })) {
      const session = await h.session(id);
      for (const entry of await session.files.list("/session", { recursive: true })) {
        if (entry.kind !== "file") continue;
        const data = await session.files.read(entry.path);
        tagOf(data.content);
        assert.equal(data.sha256, sha256(data.content));
        assert.ok(entry.sha256 === undefined || entry.sha256 === data.sha256);
      }
      await session.close();
    }
    assert.deepEqual(leftovers(dataDir), []);
    await h.close();
    for (const key of fs.readdirSync(path.join(dataDir, "sessions"))) {
      const home = path.join(dataDir, "sessions", key);
      assert.ok(fs.existsSync(path.join(home, "session.json")), `${key} is a whole session`);
      assert.deepEqual(
        fs.existsSync(path.join(home, "staging")) ? fs.readdirSync(path.join(home, "staging")) : [],
        [],
        "no staging folder outlives its host",
      );
      const trace = path.join(home, "trace.ndjson");
      if (!fs.existsSync(trace)) continue;
      const sequences = fs
        .readFileSync(trace, "utf8")
        .trimEnd()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).sequence);
      assert.equal(new Set(sequences).size, sequences.length, `${key}: each number once`);
    }
    assert.deepEqual(
      fs.readdirSync(dataDir).filter((name) => !/^(harness\.db(-wal|-shm)?|sessions|trash)$/.test(name)),
      [],
    );
  },
);

test("one guarded write of many wins, across processes", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const h = await withHost(t, { base, sessionId: "guarded" });
  await h.files.write("/session/count.json", "0");
  const each = 60;
  const children = [0, 1].map(() => startChild(t, "counting", [h.dataDir, each]));
  const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
  assert.equal((await h.files.read("/session/count.json")).text(), String(2 * each), "no increment is lost");
  t.diagnostic(`stale: ${results.map((result) => result.stale)}`);
});

test("one of many creates wins, across processes", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const h = await withHost(t, { base, sessionId: "guarded" });
  const children = [0, 1].map((at) => startChild(t, "creating", [h.dataDir, `p${at}`, 200]));
  const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
  for (let n = 0; n < 200; n++) {
    const winners = results.filter((result) => result.won.includes(n));
    assert.equal(winners.length, 1, `file ${n} was created ${winners.length} times`);
    assert.equal((await h.files.read(`/session/${n}.txt`)).text(), winners[0].tag);
  }
});
