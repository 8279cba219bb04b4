// The pool is taken by its shape, and its clients as they are set up: settings of the session, parsers of the process, time limits.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import pg from "pg";
import { createSchema, postgresDir } from "@little-stack/files/postgres";
import { after, assertError, rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  inTurn,
  pendingOf,
  withDirs,
} from "./support/persistent/session.mjs";
import { poolOf } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";
import { until } from "./support/process.mjs";

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

const held = {
  'a "b"\'$1': "text\n",
  "ünï 🧠/日本": "ü",
  empty: "",
  large: Buffer.alloc(2_500_000, "\0\\x27\u00ff", "latin1"),
};

/** All there is to do, by this pool: out, in elsewhere, changed, removed. */
async function works(t, pool) {
  const declare = () => [postgresDir({ pool, scope, harnessDir: DIR })];
  const scope = randomUUID();
  const h = await withDirs(t, declare());
  const written = await inTurn(h.main, async (files) => {
    for (const [name, content] of Object.entries(held)) await files.write(at(name), content);
    await files.write(at("removed"), "for now");
  });
  assertLanded(written.persistence, { created: 5 });
  assertLanded((await inTurn(h.main, (files) => files.remove(at("removed")))).persistence, { deleted: 1 });
  const other = await withDirs(t, declare());
  await inTurn(other.main);
  assertHolds(filesOf(other.checkout), held);
}

for (const options of [
  "-c standard_conforming_strings=off -c backslash_quote=off",
  "-c bytea_output=escape -c client_encoding=LATIN1",
  "-c timezone=Asia/Kathmandu -c datestyle=German -c extra_float_digits=0",
  "-c default_transaction_isolation=serializable",
  "-c default_transaction_read_only=on",
]) {
  cases(`clients with ${options}`, async (t) => {
    const pool = poolOf(suite.server, { options });
    after(t, () => pool.end());
    await createSchema(pool);
    await works(t, pool);
  });
}

for (const [name, oid, parser] of [
  ["int8", pg.types.builtins.INT8, BigInt],
  ["bytea", pg.types.builtins.BYTEA, (text) => text],
  ["uuid", pg.types.builtins.UUID, (text) => ({ text })],
  ["json", pg.types.builtins.JSON, () => "unread"],
  ["bool", pg.types.builtins.BOOL, (text) => text],
]) {
  cases(`a parser of the process's own for ${name}`, async (t) => {
    const usual = pg.types.getTypeParser(oid);
    pg.types.setTypeParser(oid, parser);
    after(t, () => pg.types.setTypeParser(oid, usual));
    await works(t, suite.pool);
  });
}

cases("a pool that only has what is asked of it, of one client, for many dirs at once", async (t) => {
  const one = poolOf(suite.server, { max: 1 });
  after(t, () => one.end());
  const pool = {
    async connect() {
      const client = await one.connect();
      return { query: (text, values) => client.query(text, values), release: (error) => client.release(error) };
    },
  };
  await works(t, pool);
  const names = Array.from({ length: 5 }, (_, n) => `/persistent/d${n}`);
  const scope = randomUUID();
  const h = await withDirs(
    t,
    names.map((harnessDir) => postgresDir({ pool, scope: scope + harnessDir, harnessDir })),
  );
  const finished = await inTurn(h.main, async (files) => {
    for (const name of names) await files.write(`${name}/a`, "a");
  });
  assertLanded(finished.persistence);
  assert.equal(finished.persistence.commits.length, 5);
});

for (const [why, connect] of Object.entries({
  "throws at once": () => {
    throw new Error("postgres://ann:secret@host");
  },
  rejects: () => Promise.reject(new Error("postgres://ann:secret@host")),
  "gives no client": async () => undefined,
})) {
  cases(
    `a pool that ${why}: a coded failure that shows nothing of it, and no rejection that nobody handles`,
    async (t) => {
      const h = await withDirs(t, [postgresDir({ pool: { connect }, scope: "ann", harnessDir: DIR })]);
      for (const options of [undefined, { signal: new AbortController().signal }]) {
        const { message } = await rejectsWith(h.main.beginTurn(options), "FS_LOAD_FAILED");
        assert.doesNotMatch(message, /secret/);
      }
      const error = await createSchema({ connect }).catch((failure) => failure);
      assertError(error, "FS_IO_ERROR");
      assert.doesNotMatch(error.message, /secret/);
    },
  );
}

cases("a client whose query is given up after query_timeout does not go back to the pool", async (t) => {
  const pool = poolOf(suite.server, { query_timeout: 200 });
  after(t, () => pool.end());
  const h = await withDirs(t, [postgresDir({ pool, scope: randomUUID(), harnessDir: DIR })]);
  await inTurn(h.main);
  assert.equal(pool.totalCount, 1);
  const other = await suite.pool.connect();
  await other.query("BEGIN; LOCK TABLE harness_files_scopes");
  try {
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /query_timeout/ });
    await until(() => pool.totalCount === 0, "it is closed");
  } finally {
    await other.query("ROLLBACK");
    other.release();
  }
  await inTurn(h.main);
});

cases("a client whose server only reads by now does not go back to the pool", async (t) => {
  const real = poolOf(suite.server);
  after(t, () => real.end());
  let reads = true;
  const pool = {
    async connect() {
      const client = await real.connect();
      const query = (text, values) => client.query(reads ? text.replace("READ WRITE", "READ ONLY") : text, values);
      return { query, release: (error) => client.release(error) };
    },
  };
  const h = await withDirs(t, [postgresDir({ pool, scope: randomUUID(), harnessDir: DIR })]);
  const { persistence } = await inTurn(h.main, (files) => files.write(at("a"), "new"));
  const error = assertFailed(persistence, "FS_COMMIT_FAILED");
  assert.match(error.message, /read-only/);
  assert.equal(error.cause.code, "25006");
  await until(() => real.totalCount === 0, "it is closed");
  assert.deepEqual(await pendingOf(h.main), ["created a"]);
  reads = false;
  assertLanded(await h.persistence.commit(), { created: 1 });
});
