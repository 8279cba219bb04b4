// createSchema: any number of times, by any number at once, as the docs print it; and the rights that suffice.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { createSchema } from "@little-stack/files/postgres";
import { assertError, after } from "./support/host.mjs";
import { assertFailed, assertHolds, assertLanded, at, filesOf, inTurn } from "./support/persistent/session.mjs";
import { runChild } from "./support/process.mjs";
import { withPostgres } from "./support/postgres/session.mjs";
import { poolOf } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;
const docs = fs.readFileSync(new URL("../docs/stores.md", import.meta.url), "utf8");
const change = (files) => files.write(at("a"), "ours");

function sqlOf(name) {
  const found = new RegExp(`\`\`\`sql\\n(-- ${name}:[^]*?)\`\`\``).exec(docs);
  assert.ok(found, `docs/stores.md has no SQL named ${name}`);
  return found[1];
}

/** What the tables of this name are, to compare them with others. */
async function shapeOf(table) {
  const shape = {};
  for (const suffix of ["", "_scopes", "_chunks"]) {
    const columns = await suite.pool.query(
      `SELECT column_name, data_type, is_nullable, column_default, collation_name, generation_expression
       FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`,
      [table + suffix],
    );
    const constraints = await suite.pool.query(
      "SELECT pg_get_constraintdef(oid) AS is FROM pg_constraint WHERE conrelid = $1::regclass ORDER BY 1",
      [`"${table}${suffix}"`],
    );
    shape[suffix] = [columns.rows, constraints.rows];
  }
  return shape;
}

cases("twice, at once, and by several processes", async (t) => {
  await Promise.all(Array.from({ length: 8 }, () => createSchema(suite.pool, { table: "at_once" })));
  await createSchema(suite.pool, { table: "at_once" });
  const children = Array.from({ length: 4 }, () => runChild(t, "creating-schema", [suite.server.url, "by_many"]));
  for (const { code, stderr } of await Promise.all(children)) assert.equal(code, 0, stderr);
  assert.deepEqual(await shapeOf("by_many"), await shapeOf("harness_files"));
  const h = await withPostgres(t, suite, { dir: { table: "by_many" } });
  assertLanded((await inTurn(h.main, change)).persistence, { created: 1 });
});

cases("the docs print the SQL that createSchema runs", async () => {
  await suite.pool.query(sqlOf("schema").replaceAll("harness_files", "by_hand"));
  assert.deepEqual(await shapeOf("by_hand"), await shapeOf("harness_files"));
});

cases("another schema, and a name that has to be quoted", async (t) => {
  await suite.pool.query('CREATE SCHEMA "App-1"');
  for (const table of ["App-1.Files", "Größe$1", "select"]) {
    await createSchema(suite.pool, { table });
    await createSchema(suite.pool, { table });
    const h = await withPostgres(t, suite, { dir: { table }, sessionId: `of-${table.length}` });
    assertLanded((await inTurn(h.main, change)).persistence, { created: 1 });
    const quoted = table.split(".").map((part) => `"${part}"`);
    const { rows } = await suite.pool.query(`SELECT path FROM ${quoted.join(".")}`);
    assert.deepEqual(rows, [{ path: "a" }]);
  }
});

cases("the grants of the docs suffice, and no less does", async (t) => {
  for (const role of ["app", "reader", "nobody_much"])
    await suite.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await suite.pool.query(sqlOf("grants"));
  const as = (user) => {
    const pool = poolOf({ port: suite.server.port, password: "secret" }, { user, database: "postgres" });
    after(t, () => pool.end());
    return pool;
  };
  const app = await withPostgres(t, suite, { dir: { pool: as("app"), scope: "granted" } });
  await createSchema(as("app")); // it is all there
  await inTurn(app.main, async (files) => {
    await files.write(at("a"), "one");
    await files.write(at("b"), "two");
  });
  const finished = await inTurn(app.main, async (files) => {
    await files.write(at("a"), "three");
    await files.remove(at("b"));
  });
  assertLanded(finished.persistence, { updated: 1, deleted: 1 });
  const reader = await withPostgres(t, suite, { dir: { pool: as("reader"), scope: "granted", commit: "read-only" } });
  await inTurn(reader.main, () => assertHolds(filesOf(reader.checkout), { a: "three" }));
  const less = await withPostgres(t, suite, { dir: { pool: as("reader"), scope: "granted" } });
  const error = assertFailed((await inTurn(less.main, change)).persistence, "FS_COMMIT_FAILED");
  assert.match(error.message, /lacks a right/);
  const none = await withPostgres(t, suite, { dir: { pool: as("nobody_much") } });
  assertError(await none.main.beginTurn().catch((failure) => failure), "FS_LOAD_FAILED", { message: /lacks a right/ });
  assertError(await createSchema(as("app"), { table: "new_one" }).catch((failure) => failure), "FS_IO_ERROR", {
    message: /lacks a right/,
  });
});

cases("options that make no sense", async () => {
  for (const [pool, options] of [
    [undefined, {}],
    [{}, {}],
    [suite.pool, { table: "" }],
    [suite.pool, { table: 'x"; DROP TABLE harness_files; --' }],
    [suite.pool, 7],
  ]) {
    const error = await createSchema(pool, options).catch((failure) => failure);
    assertError(error, "FS_INVALID_OPTION");
  }
});
