// postgresDir when the server or the pool refuses: what is told, what is tried again, and what becomes of the client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSchema, postgresDir } from "@little-stack/files/postgres";
import { assertError, after, rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  inTurn,
  leavePending,
  pendingOf,
  withDirs,
} from "./support/persistent/session.mjs";
import { sleep, until } from "./support/process.mjs";
import { TAKE_SCOPE } from "./support/postgres/outside.mjs";
import { withPostgres } from "./support/postgres/session.mjs";
import { poolOf } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

/** A client of another program, given back in the end. */
async function otherClient(t) {
  const client = await suite.pool.connect();
  after(t, async () => {
    await client.query("ROLLBACK").catch(() => {});
    client.release();
  });
  return client;
}

const change = (files) => files.write(at("a"), "new");

/** Makes every query that looks so fail with this code, `times` times, by a rule of the server's own. */
async function refusing(t, code, times = 1_000_000) {
  await suite.pool.query("CREATE SEQUENCE refusals");
  await suite.pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('refusals') <= ${times} THEN RAISE EXCEPTION 'refused on purpose' USING ERRCODE = '${code}'; END IF;
    RETURN NEW; END $$`);
  await suite.pool.query(
    "CREATE TRIGGER refusing BEFORE INSERT ON harness_files_chunks FOR EACH ROW EXECUTE FUNCTION refuse()",
  );
  const heal = async () => {
    await suite.pool.query("DROP FUNCTION IF EXISTS refuse() CASCADE");
    await suite.pool.query("DROP SEQUENCE IF EXISTS refusals");
  };
  after(t, heal);
  return {
    heal,
    count: async () => Number((await suite.pool.query("SELECT last_value FROM refusals")).rows[0].last_value),
  };
}

cases("a deadlock is tried again, and lands", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("a", "old");
  const turn = await h.main.beginTurn();
  await change(turn.files);
  const other = await otherClient(t);
  await other.query("BEGIN");
  await other.query("SET LOCAL deadlock_timeout = '20s'"); // so that it is ours that is ended
  await other.query("UPDATE harness_files SET media_type = 'text/x-theirs' WHERE scope = $1 AND path = 'a'", [h.scope]);
  h.proxy.queries.length = 0;
  const finishing = turn.finish();
  await until(
    () => h.proxy.queries.some((text) => text.includes("ON CONFLICT (scope, path_key)")),
    "it waits for the row",
  );
  const taking = other.query(TAKE_SCOPE, [h.scope]);
  await taking;
  await other.query("COMMIT");
  assertLanded((await finishing).persistence, { updated: 1 });
  assert.ok(h.proxy.queries.includes("ROLLBACK"), "the first attempt was rolled back");
  assertHolds(await h.read(), { a: "new" });
});

cases("serialization failures are tried again, but not for ever", async (t) => {
  const h = await withPostgres(t, suite);
  const some = await refusing(t, "40001", 3);
  assertLanded((await inTurn(h.main, change)).persistence, { created: 1 });
  await some.heal();
  const all = await refusing(t, "40001");
  const { persistence } = await inTurn(h.main, (files) => files.write(at("a"), "newer"));
  const error = assertFailed(persistence, "FS_COMMIT_FAILED");
  assert.match(error.message, /other transactions were in the way/);
  assert.equal(error.cause.code, "40001");
  assert.ok((await all.count()) <= 10);
  await all.heal();
  assertLanded(await h.persistence.commit(), { updated: 1 });
});

for (const [code, words] of Object.entries({
  53100: /disk is full/,
  42501: /role lacks a right/,
  57014: /statement_timeout/,
  "25P04": /transaction_timeout/,
  "55P03": /lock_timeout/,
  XX000: /the server or the client failed \(error, XX000\)/,
})) {
  cases(`${code} is told in words, and the client goes back to the pool`, async (t) => {
    const h = await withPostgres(t, suite, { pool: { max: 1 } });
    const { heal } = await refusing(t, code);
    const error = assertFailed((await inTurn(h.main, change)).persistence, "FS_COMMIT_FAILED");
    assert.match(error.message, words);
    assert.match(error.message, /changes stay pending/);
    assert.doesNotMatch(error.message, /refused on purpose/);
    assert.equal(error.cause.code, code);
    assert.equal(error.cause.message, "refused on purpose");
    assert.deepEqual([h.pool.totalCount, h.pool.idleCount], [1, 1]);
    assert.deepEqual(await pendingOf(h.main), ["created a"]);
    await heal();
    assertLanded(await h.persistence.commit(), { created: 1 });
  });
}

cases("missing tables: run createSchema", async (t) => {
  const h = await withPostgres(t, suite, { dir: { table: "nowhere" } });
  const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /run createSchema/, path: DIR });
  assert.equal(error.cause.code, "42P01");
  await createSchema(suite.pool, { table: "nowhere" });
  assertLanded((await inTurn(h.main, change)).persistence, { created: 1 });
  const { rows } = await suite.pool.query("SELECT path, bytes::int AS bytes FROM nowhere");
  assert.deepEqual(rows, [{ path: "a", bytes: 3 }]);
});

cases("tables of another make are told", async (t) => {
  await suite.pool.query(
    "CREATE TABLE odd (a int); CREATE TABLE odd_scopes (scope text); CREATE TABLE odd_chunks (a int)",
  );
  const h = await withPostgres(t, suite, { dir: { table: "odd" } });
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /not those of createSchema/ });
});

cases("an exhausted pool is told, and nothing is left waiting", async (t) => {
  const h = await withPostgres(t, suite, { pool: { max: 1, connectionTimeoutMillis: 150 } });
  await leavePending(h.main, change);
  const client = await h.pool.connect();
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /pool had no connection/ });
  const error = assertFailed(await h.persistence.commit(), "FS_COMMIT_FAILED");
  assert.match(error.message, /pool had no connection/);
  client.release();
  assertLanded(await h.persistence.commit(), { created: 1 });
  assert.deepEqual([h.pool.totalCount, h.pool.idleCount, h.pool.waitingCount], [1, 1, 0]);
});

cases("wrong credentials, no server, no database", async () => {
  const { port, password } = suite.server;
  const refused = {
    "refused the credentials": poolOf({ port, password: "wrong" }),
    "no server listens": poolOf({ port: 1, password }),
    "no such database": poolOf({ port, password }, { database: "nowhere" }),
  };
  for (const [words, pool] of Object.entries(refused)) {
    const error = await createSchema(pool).catch((failure) => failure);
    assertError(error, "FS_IO_ERROR", { message: new RegExp(words) });
    await pool.end();
  }
  const ended = poolOf({ port, password });
  await ended.end();
  assertError(await createSchema(ended).catch((failure) => failure), "FS_IO_ERROR", { message: /pool was ended/ });
});

cases("a commit that waits for the scope ends with its signal, and gives the client up", async (t) => {
  const h = await withPostgres(t, suite);
  await leavePending(h.main, change);
  const other = await otherClient(t);
  await other.query("BEGIN");
  await other.query(TAKE_SCOPE, [h.scope]);
  const abort = new AbortController();
  const start = performance.now();
  const committing = h.persistence.commit({ signal: abort.signal });
  await until(
    () => h.proxy.queries.some((text) => text.includes("SET change = s.change + 1")),
    "it waits for the scope",
  );
  abort.abort(new Error("enough"));
  assertFailed(await committing, "FS_ABORTED");
  assert.ok(performance.now() - start < 5000);
  await until(() => h.pool.totalCount === h.pool.idleCount, "the client is given up");
  assert.deepEqual(await pendingOf(h.main), ["created a"]);
  await other.query("COMMIT");
  assertLanded(await h.persistence.commit(), { created: 1 });
});

cases("a load that waits for a connection ends with its signal, and takes none later", async (t) => {
  const h = await withPostgres(t, suite, { pool: { max: 1, connectionTimeoutMillis: 0 } });
  const client = await h.pool.connect();
  const abort = new AbortController();
  const beginning = h.main.beginTurn({ signal: abort.signal });
  await until(() => h.pool.waitingCount === 1, "it waits");
  abort.abort(new Error("enough"));
  await rejectsWith(beginning, "FS_ABORTED");
  client.release();
  await until(() => h.pool.idleCount === 1 && h.pool.waitingCount === 0, "what came late is given back");
  await inTurn(h.main);
});

cases("a load is aborted between chunks", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("large", Buffer.alloc(8_000_000, "x"));
  const abort = new AbortController();
  const isChunk = (text) => text.includes("AND part = $2");
  h.proxy.onQuery = async ({ text }) => {
    if (isChunk(text)) abort.abort(new Error("enough"));
    await sleep(1);
  };
  await rejectsWith(h.main.beginTurn({ signal: abort.signal }), "FS_ABORTED");
  h.proxy.onQuery = undefined;
  assert.ok(h.proxy.queries.filter(isChunk).length < 5);
  await inTurn(h.main, async (files) => assert.equal((await files.stat(at("large"))).bytes, 8_000_000));
});

cases("one signal for many dirs warns of nothing", async (t) => {
  const warnings = [];
  const hear = (warning) => warnings.push(warning);
  process.on("warning", hear);
  after(t, () => process.off("warning", hear));
  const { pool } = suite;
  const names = Array.from({ length: 14 }, (_, n) => `/persistent/d${n}`);
  const dirs = names.map((harnessDir) => postgresDir({ pool, scope: `many ${harnessDir}`, harnessDir }));
  const h = await withDirs(t, dirs);
  const { signal } = new AbortController();
  const turn = await h.main.beginTurn({ signal });
  for (const name of names) await turn.files.write(`${name}/a`, "a");
  assertLanded((await turn.finish({ signal })).persistence);
  assertLanded(await h.persistence.commit({ signal }));
  await sleep(1);
  assert.deepEqual(warnings.map(String), []);
});

cases("no transaction may stand still for long: it would keep the scope from all others", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("b", "b");
  await inTurn(h.main, change);
  const begun = h.proxy.queries.filter((text) => text.startsWith("BEGIN"));
  assert.equal(begun.length, 2);
  for (const text of begun) assert.match(text, /SET LOCAL idle_in_transaction_session_timeout = '60s'/);
});

cases("options that make no sense", () => {
  const pool = suite.pool;
  const good = { pool, scope: "ann", harnessDir: DIR };
  for (const wrong of [
    { pool: undefined },
    { pool: "postgres://" },
    { scope: undefined },
    { scope: "" },
    { scope: "a\0b" },
    { scope: "ä".repeat(451) },
    { scope: "\ud800" },
    { scope: 7 },
    { table: "" },
    { table: 'a"b' },
    { table: "a.b.c" },
    { table: "1a" },
    { table: "a; DROP TABLE x" },
    { table: "a".repeat(57) },
    { table: 7 },
    { harnessDir: "" },
    { commit: "sometimes" },
  ]) {
    const [name] = Object.keys(wrong);
    try {
      postgresDir({ ...good, ...wrong });
      assert.fail(`${name} was taken`);
    } catch (error) {
      assertError(error, "FS_INVALID_OPTION");
      assert.ok(error.message.includes(name), error.message);
    }
  }
  for (const table of ["files", "Files", "app.files", "größe_1", "a-b", "a".repeat(56)])
    postgresDir({ ...good, table });
});

cases("a scope that its function cannot give", async (t) => {
  for (const given of [undefined, "", Promise.resolve("ann"), "a\0b"]) {
    const h = await withPostgres(t, suite, { dir: { scope: () => given }, sessionId: `given-${String(given)}` });
    const error = await h.main.beginTurn().catch((failure) => failure);
    assertError(error, "FS_LOAD_FAILED");
    assert.equal(error.cause.code, "FS_INVALID_OPTION");
  }
});
