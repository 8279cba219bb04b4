// Four processes with a dataDir each commit to one scope: no update is lost, no load shows parts of two commits, every conflict
// is told. LF_SOAK_SECONDS: 8 by default; 60 and more before a release.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { tagOf, tagged } from "./support/content.mjs";
import { tempDir } from "./support/host.mjs";
import * as outside from "./support/postgres/outside.mjs";
import { newStore } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";
import { lastJson, startChild } from "./support/process.mjs";

const seconds = Number(process.env.LF_SOAK_SECONDS ?? 8);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const NAMES = ["p0", "p1", "p2", "p3"];
const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

cases(
  `four processes on one scope for ${seconds} s (LF_SEED=${seed})`,
  { timeout: seconds * 1000 + 120_000 },
  async (t) => {
    const base = tempDir(t);
    const store = newStore(suite)(t);
    store.write("counter.json", JSON.stringify({ value: 0, by: "p" }));
    for (const each of ["a", "b"]) store.write(`pair/${each}.bin`, tagged("c0p", 20_000));
    const spec = JSON.stringify({ ...store.spec, port: suite.server.port });
    const children = NAMES.map((name, n) =>
      startChild(t, "sharing", [path.join(base, `data-${name}`), spec, seconds, seed + n, name]),
    );
    const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
    t.diagnostic(JSON.stringify(results.map(({ name, counts }) => ({ name, ...counts }))));
    for (const { name, failures } of results) assert.deepEqual(failures.slice(0, 3), [], name);
    const landed = results.flatMap(({ mine }) => mine).sort((a, b) => a - b);
    const held = store.read();
    const { value, by } = JSON.parse(held.get("counter.json"));
    assert.deepEqual(
      landed,
      Array.from({ length: value }, (_, n) => n + 1),
      "each increment is of one program, none is lost",
    );
    assert.ok(value >= 10, `${value} commits in ${seconds} s`);
    for (const { name, mine } of results) {
      const logs = [...held.keys()].filter((each) => each.startsWith(`log/${name}/`));
      assert.deepEqual(logs.sort(), mine.map((each) => `log/${name}/${each}.txt`).sort());
      for (const each of mine) assert.equal(held.get(`log/${name}/${each}.txt`).toString(), `${name} ${each}`);
    }
    for (const each of ["a", "b"]) assert.equal(tagOf(held.get(`pair/${each}.bin`)), `c${value}${by}`);
    const chunks = await suite.pool.query(
      "SELECT FROM harness_files_chunks c WHERE NOT EXISTS (SELECT FROM harness_files f WHERE f.content = c.content)",
    );
    assert.equal(chunks.rowCount, 0, "no chunk is left behind");
  },
);

cases(
  "processes that are killed in mid-commit leave all or nothing, and hold nobody up",
  { timeout: 120_000 },
  async (t) => {
    const base = tempDir(t);
    const store = newStore(suite)(t);
    const scope = `${store.spec.prefix}/shared`;
    const spec = { ...store.spec, port: suite.server.port };
    for (const each of ["a", "b"]) store.write(`pair/${each}.bin`, tagged("c0p", 20_000));
    store.write("counter.json", JSON.stringify({ value: 0, by: "p" }));
    const run = (n, time) =>
      startChild(t, "sharing", [path.join(base, `data-${n}`), JSON.stringify(spec), time, seed + n, `k${n}`]);
    for (let n = 0; n < 6; n++) {
      const child = run(n, 60);
      await new Promise((resolve) => {
        setTimeout(resolve, 900 + n * 70);
      });
      child.kill();
      await child.ended;
      const held = new Map(await outside.read(suite.pool, scope));
      const { value, by } = JSON.parse(held.get("counter.json"));
      for (const each of ["a", "b"]) assert.equal(tagOf(held.get(`pair/${each}.bin`)), `c${value}${by}`);
    }
    const { counts, failures } = lastJson(await run(7, 3).ended);
    assert.deepEqual(failures, []);
    assert.ok(counts.landed > 0);
  },
);
