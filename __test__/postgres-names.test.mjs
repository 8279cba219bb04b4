// Names and sizes over postgresDir: any UTF-8, 10,000 files, and files larger than memory would like.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { assertHolds, assertLanded, at, filesOf, finish, inTurn, withDirs } from "./support/persistent/session.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { withPostgres } from "./support/postgres/session.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";

/** 64 by default; 2048 and more before a release. */
const LARGE_MIB = Number(process.env.LF_LARGE_MIB ?? 64);
const MAX_MEMORY_MIB = 256;

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

const random = (length) => Array.from({ length }, (_, n) => ((n * 7919 + 13) % 36).toString(36)).join("");
const NAMES = [
  "with spaces  two",
  "a+b%20c#d?e&f",
  `it's "quoted" and $1 {braces} [brackets], commas`,
  "%2e%2e",
  "__proto__",
  "constructor/prototype/toString",
  "null",
  "NULL",
  "Grüße/日本語/😀 🏳️‍🌈",
  "é".normalize("NFC") + "-composed",
  "é".normalize("NFD") + "-decomposed",
  "a",
  "A",
  "a-b/c",
  "a_b",
  "a.b",
  "\u200bzero width",
  "‮right to left",
  "...",
  ".hidden",
  Array.from({ length: 4 }, (_, n) => random(224 + n)).join("/"), // about 900 bytes
  Array.from({ length: 16 }, (_, n) => random(240 + (n % 5))).join("/"), // longer than an index entry may be
];

cases("any name goes out, is found by others, and comes in elsewhere", async (t) => {
  const h = await withPostgres(t, suite);
  const wanted = new Map(NAMES.map((name) => [name, Buffer.from(`content of ${name}`)]));
  const finished = await inTurn(h.main, async (files) => {
    for (const [name, content] of wanted) await files.write(at(name), content);
  });
  assertLanded(finished.persistence, { created: NAMES.length });
  assertHolds(await h.read(), filesOf(h.checkout));
  const elsewhere = await withDirs(t, h.declare());
  await inTurn(elsewhere.main, () => assertHolds(filesOf(elsewhere.checkout), filesOf(h.checkout)));
  const updated = await inTurn(elsewhere.main, async (files) => {
    for (const name of NAMES) await files.write(at(name), `new ${name}`);
  });
  assertLanded(updated.persistence, { updated: NAMES.length });
  for (const name of await h.read().then((held) => [...held.keys()])) await h.write(name, `theirs ${name}`);
  await inTurn(h.main, async () => assertHolds(filesOf(h.checkout), await h.read()));
  const removed = await inTurn(h.main, async (files) => {
    for (const name of NAMES) await files.remove(at(name));
  });
  assertLanded(removed.persistence, { deleted: NAMES.length });
  assertHolds(await h.read(), {});
});

cases("rows that no path can name are left out and counted", async (t) => {
  const h = await withPostgres(t, suite);
  for (const name of ["good", "back\\slash", "a\nb", "../up", "/absolute", "a//b", "x".repeat(300)])
    await h.write(name, "x");
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { good: "x" }));
  const loaded = h.events.find(({ type }) => type === "harness.persistent_dir.loaded");
  assert.equal(loaded.metadata.skipped, 6);
  assertLanded((await inTurn(h.main, (files) => files.write(at("good"), "y"))).persistence, { updated: 1 });
  assert.equal((await h.read()).size, 7);
});

cases("scopes of any name are apart", async (t) => {
  const scopes = ["a", "A", "a/b", "a'b", "日本", "a%", "é".repeat(450)];
  for (const [n, scope] of scopes.entries()) {
    const h = await withPostgres(t, suite, { dir: { scope }, sessionId: `s${n}` });
    assertLanded((await inTurn(h.main, (files) => files.write(at("whose"), scope))).persistence, { created: 1 });
  }
  for (const [n, scope] of scopes.entries()) {
    const h = await withPostgres(t, suite, { dir: { scope }, sessionId: `t${n}` });
    await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { whose: scope }));
  }
});

cases("a scope function that answers otherwise in mid-commit: all goes where it was loaded from", async (t) => {
  const own = randomUUID();
  const answers = [];
  const scope = () => `${own}/${answers.shift() ?? "bob"}`;
  const h = await withPostgres(t, suite, { dir: { scope } });
  answers.push("ann");
  const turn = await h.main.beginTurn();
  await turn.files.write(at("a"), "of ann");
  answers.push("ann");
  assertLanded((await finish(turn)).persistence, { created: 1 });
  const { rows } = await suite.pool.query("SELECT scope, path FROM harness_files WHERE scope LIKE $1 || '%'", [own]);
  assert.deepEqual(rows, [{ scope: `${own}/ann`, path: "a" }]);
});

cases("10,000 small files out, in, changed and removed", { timeout: 240_000 }, async (t) => {
  const h = await withPostgres(t, suite);
  const name = (n) => `${n % 10}/${n % 100}/${n}.txt`;
  const write = (n, text) => {
    const file = path.join(h.checkout, name(n));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  const first = await inTurn(h.main, () => {
    for (let n = 0; n < 10_000; n++) write(n, `file ${n}`);
  });
  assertLanded(first.persistence, { created: 10_000 });
  t.diagnostic(`${h.proxy.queries.length} queries for load and commit`);
  assert.ok(h.proxy.queries.length < 120);
  const elsewhere = await withDirs(t, h.declare());
  h.proxy.queries.length = 0;
  await inTurn(elsewhere.main);
  assert.ok(h.proxy.queries.length < 60, `${h.proxy.queries.length} queries for a load`);
  const held = filesOf(elsewhere.checkout);
  assert.equal(held.size, 10_000);
  for (const n of [0, 77, 9_999]) assert.equal(held.get(name(n)).toString(), `file ${n}`);
  const second = await inTurn(h.main, () => {
    for (let n = 0; n < 10_000; n++) {
      if (n % 2 === 0) write(n, `changed ${n}`);
      else fs.rmSync(path.join(h.checkout, name(n)));
    }
  });
  assertLanded(second.persistence, { updated: 5_000, deleted: 5_000 });
  await inTurn(elsewhere.main);
  const after = filesOf(elsewhere.checkout);
  assert.equal(after.size, 5_000);
  for (let n = 0; n < 10_000; n += 2) assert.equal(after.get(name(n)).toString(), `changed ${n}`);
});

cases(`${LARGE_MIB} MiB out and in, in constant memory`, { timeout: 60_000 + LARGE_MIB * 500 }, async (t) => {
  const base = tempDir(t);
  const digests = [];
  for (const way of ["out", "in"]) {
    const args = [suite.server.url, "large", path.join(base, way), LARGE_MIB, way];
    const limit = 60_000 + LARGE_MIB * 250;
    const { ms, peakMiB, sha256 } = lastJson(
      await runChild(t, "postgres-large", args, { execArgv: ["--expose-gc"], limit }),
    );
    t.diagnostic(`${way}: ${ms} ms, ${peakMiB} MiB of memory`);
    assert.ok(peakMiB < MAX_MEMORY_MIB, `${way} took ${peakMiB} MiB`);
    digests.push(sha256);
  }
  assert.equal(digests[0], digests[1]);
});
