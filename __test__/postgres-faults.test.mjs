// postgresDir when connections are cut, answers are lost and the server is killed: a commit is all or nothing, what did not land
// stays pending, and any later retry lands it. Real connections to a real server; a proxy between them does the damage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  filesOf,
  finish,
  inTurn,
  leavePending,
  pendingOf,
} from "./support/persistent/session.mjs";
import { withPostgres } from "./support/postgres/session.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

const LARGE = Buffer.alloc(2_500_000, "a content in three chunks ");
const OLD = { "a/changed": "old", deleted: "old", kept: "old" };
const NEW = { "a/changed": "new", kept: "old", "made/1": "one", "made/large": LARGE };
const CHANGES = ["updated a/changed", "deleted deleted", "created made/1", "created made/large"];
/** More queries than any commit of these files has. */
const MANY = 40;

async function change(files) {
  await files.write(at("a/changed"), "new");
  await files.remove(at("deleted"));
  await files.write(at("made/1"), "one");
  await files.write(at("made/large"), LARGE);
}

async function begun(t) {
  const h = await withPostgres(t, suite);
  for (const [name, text] of Object.entries(OLD)) await h.write(name, text);
  const turn = await h.main.beginTurn();
  await change(turn.files);
  return { h, turn };
}

/** Does so at the k-th query from now on; `ever`: and at every later one. Tells whether it came to that. */
function strike(proxy, k, action, { ever = false } = {}) {
  const struck = { yes: false };
  let n = 0;
  proxy.onQuery = () => {
    n++;
    if (n !== k && !(ever && n > k)) return undefined;
    struck.yes = true;
    return n === k ? action : "cut";
  };
  return struck;
}

for (const action of ["cut", "lose", "hangup"]) {
  cases(`a commit whose connection is lost once, ${action} at the k-th query, lands by itself`, async (t) => {
    for (let k = 1; k < MANY; k++) {
      const { h, turn } = await begun(t);
      const struck = strike(h.proxy, k, action);
      const { persistence } = await finish(turn);
      assertLanded(persistence, { created: 2, updated: 1, deleted: 1 });
      assertHolds(await h.read(), NEW, `k = ${k}`);
      assert.deepEqual(await pendingOf(h.main), []);
      await inTurn(h.main, () => assertHolds(filesOf(h.checkout), NEW));
      assert.equal(h.pool.idleCount, h.pool.totalCount, "no client is kept");
      await h.close();
      if (!struck.yes) return t.diagnostic(`${k - 1} queries`);
    }
    assert.fail("it never ended");
  });

  cases(`a commit whose server is gone for good, ${action} at the k-th query, is told and retried`, async (t) => {
    for (let k = 1; k < MANY; k++) {
      const { h, turn } = await begun(t);
      const struck = strike(h.proxy, k, action, { ever: true });
      const { persistence } = await finish(turn);
      if (!struck.yes) {
        assertLanded(persistence);
        return;
      }
      const held = await h.read();
      if (persistence.status === "failed") {
        const error = assertFailed(persistence, "FS_COMMIT_FAILED");
        assert.match(error.message, /connection to the server was lost/);
        assert.ok(error.cause instanceof Error);
        assert.deepEqual(await pendingOf(h.main), CHANGES);
        assertHolds(held, held.has("made/1") ? NEW : OLD, `all or nothing, k = ${k}`);
        h.proxy.onQuery = undefined;
        h.proxy.queries.length = 0;
        const landed = held.has("made/1");
        assertLanded(await h.persistence.commit(), landed ? {} : { created: 2, updated: 1, deleted: 1 });
        const sent = h.proxy.queries.filter((text) => text.includes("INSERT INTO"));
        if (landed) assert.deepEqual(sent, [], "what has landed is not sent again");
      }
      assertHolds(await h.read(), NEW, `k = ${k}`);
      assert.deepEqual(await pendingOf(h.main), []);
      await h.close();
    }
    assert.fail("it never ended");
  });

  cases(`a load whose server is gone, ${action} at the k-th query, leaves all as it was`, async (t) => {
    for (let k = 1; k < MANY; k++) {
      const h = await withPostgres(t, suite);
      await h.write("mine", "old");
      await h.write("theirs", "old");
      await leavePending(h.main, (files) => files.write(at("mine"), "mine"));
      await h.write("theirs", LARGE);
      await h.write("new/file", "new");
      const struck = strike(h.proxy, k, action, { ever: true });
      const turn = await h.main.beginTurn().catch((error) => error);
      h.proxy.onQuery = undefined;
      if (turn instanceof Error) {
        await rejectsWith(Promise.reject(turn), "FS_LOAD_FAILED", { message: /connection to the server was lost/ });
        assertHolds(filesOf(h.checkout), { mine: "mine", theirs: "old" });
        assert.equal((await h.main.status()).state, "idle");
        assertLanded((await inTurn(h.main)).persistence, { updated: 1 });
      } else {
        assertLanded((await finish(turn)).persistence, { updated: 1 });
      }
      assertHolds(filesOf(h.checkout), { mine: "mine", theirs: LARGE, "new/file": "new" });
      await h.close();
      if (!struck.yes) return t.diagnostic(`${k - 1} queries`);
    }
    assert.fail("it never ended");
  });
}

cases("COMMIT's answer is lost: the commit is found, and nothing is sent twice", async (t) => {
  const { h, turn } = await begun(t);
  h.proxy.queries.length = 0;
  let lost = false;
  h.proxy.onQuery = ({ text, writes }) => {
    if (lost || text !== "COMMIT" || !writes) return undefined;
    lost = true;
    h.proxy.queries.length = 0;
    return "lose";
  };
  assertLanded((await finish(turn)).persistence, { created: 2, updated: 1, deleted: 1 });
  assert.ok(lost);
  assert.deepEqual(
    h.proxy.queries.filter((text) => /INSERT|UPDATE|DELETE/.test(text)),
    [],
  );
  assertHolds(await h.read(), NEW);
});

cases("the server is killed in mid-commit, and comes back", { timeout: 120_000 }, async (t) => {
  for (const k of [1, 4, 7]) {
    const { h, turn } = await begun(t);
    let n = 0;
    h.proxy.onQuery = async () => {
      if (++n === k) await suite.server.kill();
    };
    const error = assertFailed((await finish(turn)).persistence, "FS_COMMIT_FAILED");
    assert.match(error.message, /connection to the server was lost|no server listens/);
    h.proxy.onQuery = undefined;
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    assert.deepEqual(await pendingOf(h.main), CHANGES);
    await suite.server.start();
    assertHolds(await h.read(), OLD);
    assertLanded(await h.persistence.commit(), { created: 2, updated: 1, deleted: 1 });
    assertHolds(await h.read(), NEW);
    await h.close();
  }
});

cases("idle connections that went away meanwhile are no failure", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("a", "old");
  const clients = await Promise.all([h.pool.connect(), h.pool.connect(), h.pool.connect()]);
  for (const client of clients) client.release();
  await inTurn(h.main);
  await suite.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
  );
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "new"))).persistence, { updated: 1 });
  assertHolds(await h.read(), { a: "new" });
});
