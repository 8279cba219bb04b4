// Four processes with a dataDir each commit to one localDir: no update is lost, no load shows parts of two commits, every
// conflict is told. LF_SOAK_SECONDS: 8 by default; 60 and more before a release.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tagOf, tagged } from "./support/content.mjs";
import { tempDir } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";
import { filesOf } from "./support/persistent/session.mjs";

const seconds = Number(process.env.LF_SOAK_SECONDS ?? 8);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const NAMES = ["p0", "p1", "p2", "p3"];

test(
  `four processes on one localDir for ${seconds} s (LF_SEED=${seed})`,
  { timeout: seconds * 1000 + 120_000 },
  async (t) => {
    const base = tempDir(t);
    const source = path.join(base, "source");
    fs.mkdirSync(path.join(source, "pair"), { recursive: true });
    fs.writeFileSync(path.join(source, "counter.json"), JSON.stringify({ value: 0, by: "p" }));
    for (const each of ["a", "b"]) fs.writeFileSync(path.join(source, `pair/${each}.bin`), tagged("c0p", 20_000));
    const children = NAMES.map((name, n) =>
      startChild(t, "sharing", [path.join(base, `data-${name}`), source, seconds, seed + n, name]),
    );
    const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
    t.diagnostic(JSON.stringify(results.map(({ name, counts }) => ({ name, ...counts }))));
    for (const { name, failures } of results) assert.deepEqual(failures.slice(0, 3), [], name);

    const landed = results.flatMap(({ mine }) => mine).sort((a, b) => a - b);
    const { value, by } = JSON.parse(fs.readFileSync(path.join(source, "counter.json"), "utf8"));
    assert.deepEqual(
      landed,
      Array.from({ length: value }, (_, n) => n + 1),
      "each increment is of one program, none is lost",
    );
    assert.ok(value >= 10, `${value} commits in ${seconds} s`);
    for (const { name, counts } of results) assert.ok(counts.landed > 0, `${name} never got through`);
    const held = filesOf(source);
    for (const { name, mine } of results) {
      const logs = [...held.keys()].filter((each) => each.startsWith(`log/${name}/`));
      assert.deepEqual(logs.sort(), mine.map((each) => `log/${name}/${each}.txt`).sort());
      for (const each of mine) assert.equal(held.get(`log/${name}/${each}.txt`).toString(), `${name} ${each}`);
    }
    for (const each of ["a", "b"]) assert.equal(tagOf(held.get(`pair/${each}.bin`)), `c${value}${by}`);
  },
);
