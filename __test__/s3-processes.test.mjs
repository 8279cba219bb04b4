// Four processes with a dataDir each commit to one prefix: no update is lost, every conflict is told. LF_SOAK_SECONDS: 8 by
// default; 60 and more before a release.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const seconds = Number(process.env.LF_SOAK_SECONDS ?? 8);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const NAMES = ["p0", "p1", "p2", "p3"];
const SHARED = ["0.log", "1.log", "deep/2.log"];

test(
  `four processes on one prefix for ${seconds} s (LF_SEED=${seed})`,
  { timeout: seconds * 1000 + 120_000 },
  async (t) => {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    const base = tempDir(t);
    for (const file of SHARED) store.write(file, "");
    const children = NAMES.map((name, n) =>
      startChild(t, "appending", [path.join(base, name), JSON.stringify(store.spec), seconds, seed + n, name]),
    );
    const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
    t.diagnostic(
      JSON.stringify(results.map(({ name, counts, landed }) => ({ name, ...counts, landed: landed.length }))),
    );
    for (const { name, failures } of results) assert.deepEqual(failures.slice(0, 3), [], name);
    const held = store.read();
    const landed = results.flatMap((result) => result.landed);
    for (const file of SHARED) {
      const lines = held.get(file).toString().split("\n").slice(0, -1);
      const wanted = landed.filter(([where]) => where === file).map(([, line]) => line);
      assert.deepEqual([...lines].sort(), wanted.sort(), `${file}: each line once, none lost`);
    }
    const own = landed.filter(([file]) => file.startsWith("own/"));
    assert.deepEqual([...held.keys()].sort(), [...SHARED, ...own.map(([file]) => file)].sort());
    for (const [file, line] of own) assert.equal(held.get(file).toString(), line);
    for (const { name, landed: mine } of results) assert.ok(mine.length > 0, `${name} never got through`);
    assert.ok(
      results.some(({ counts }) => counts.conflicts > 0),
      "they met",
    );
  },
);
