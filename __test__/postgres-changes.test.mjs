// What a load over postgresDir sees: only what is new, of one snapshot, and never too little; and what other programs do to the
// tables by the SQL of docs/stores.md.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { test } from "node:test";
import { assertError, after, rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  filesOf,
  finish,
  inTurn,
  leavePending,
  withDirs,
} from "./support/persistent/session.mjs";
import { has, until } from "./support/process.mjs";
import * as outside from "./support/postgres/outside.mjs";
import { withPostgres } from "./support/postgres/session.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";
import { sha256 } from "./support/tree.mjs";

const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

const docs = fs.readFileSync(new URL("../docs/stores.md", import.meta.url), "utf8");

cases("a turn for which nothing has changed is one query", async (t) => {
  const h = await withPostgres(t, suite);
  for (const files of [0, 1, 50]) {
    for (let n = 0; n < files; n++) await h.write(`f/${files}/${n}`, "x");
    await inTurn(h.main);
    h.proxy.queries.length = 0;
    await inTurn(h.main);
    assert.equal(h.proxy.queries.length, 1, h.proxy.queries.join("\n"));
  }
  await inTurn(h.main, (files) => files.write(at("ours"), "ours"));
  h.proxy.queries.length = 0;
  await inTurn(h.main);
  assert.equal(h.proxy.queries.length, 1, "also after a commit of ours");
});

cases("only rows that are new are read, and only contents that are not known", async (t) => {
  const h = await withPostgres(t, suite);
  for (let n = 0; n < 30; n++) await h.write(`f/${n}`, `old ${n}`);
  await inTurn(h.main);
  await h.write("f/3", "new");
  await h.remove("f/4");
  const contents = [];
  h.proxy.onQuery = ({ text }) => void (/harness_files_chunks/.test(text) && contents.push(text));
  await inTurn(h.main, async (files) => {
    assert.equal((await files.read(at("f/3"))).text(), "new");
    await rejectsWith(files.read(at("f/4")), "FS_NOT_FOUND");
  });
  assert.equal(contents.length, 1);
  const loaded = h.events.findLast(({ type }) => type === "harness.persistent_dir.loaded");
  assert.deepEqual(loaded.metadata.changeCounts, { created: 0, updated: 1, deleted: 1 });
});

cases("a load is of one snapshot, contents included, while others commit", async (t) => {
  const h = await withPostgres(t, suite);
  const large = (text) => Buffer.alloc(3_000_000, text);
  for (const name of ["a", "b"]) await h.write(name, "old");
  await h.write("large", large("old "));
  let changed = false;
  h.proxy.onQuery = async ({ text }) => {
    if (changed || !text.startsWith("SELECT content")) return;
    changed = true;
    for (const name of ["a", "b"]) await h.write(name, "new");
    await h.write("large", large("new "));
    await h.remove("gone").catch(() => {});
  };
  await inTurn(h.main, () =>
    assertHolds(
      filesOf(h.checkout),
      new Map([
        ["a", "old"],
        ["b", "old"],
        ["large", large("old ")],
      ]),
    ),
  );
  assert.ok(changed);
  await inTurn(h.main, () =>
    assertHolds(
      filesOf(h.checkout),
      new Map([
        ["a", "new"],
        ["b", "new"],
        ["large", large("new ")],
      ]),
    ),
  );
});

cases("no load misses a commit that finished later: numbers are given inside the scope's lock", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("a", "old");
  await inTurn(h.main);
  // Another program has taken the next number, and is slow.
  const slow = await suite.pool.connect();
  after(t, () => slow.release());
  const content = randomUUID();
  await slow.query("BEGIN");
  await slow.query(outside.TAKE_SCOPE, [h.scope]);
  await slow.query(outside.PUT_CHUNK, [content, 0, Buffer.from("slow")]);
  await slow.query(outside.PUT_FILE, [h.scope, "slow", content, 4, sha256("slow")]);
  const turn = await h.main.beginTurn();
  assertHolds(filesOf(h.checkout), { a: "old" });
  await turn.files.write(at("ours"), "ours");
  let landed = false;
  const finishing = finish(turn).then((finished) => {
    landed = true;
    return finished;
  });
  await until(() => h.proxy.queries.at(-1)?.includes("SET change = s.change + 1"), "our commit waits");
  const elsewhere = await withDirs(t, h.declare()); // on another machine, so to say
  await inTurn(elsewhere.main, () => assertHolds(filesOf(elsewhere.checkout), { a: "old" }));
  assert.equal(landed, false, "no later number is given before the slow one has landed");
  await slow.query("COMMIT");
  assertLanded((await finishing).persistence, { created: 1 });
  for (const each of [h, elsewhere]) {
    await inTurn(each.main);
    assertHolds(filesOf(each.checkout), { a: "old", slow: "slow", ours: "ours" });
  }
});

cases("what others committed to other files meanwhile is merged, and comes with the next load", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("a", "old");
  const turn = await h.main.beginTurn();
  await turn.files.write(at("ours"), "ours");
  await h.write("theirs", "theirs");
  await h.remove("a");
  assertLanded((await finish(turn)).persistence, { created: 1 });
  assertHolds(await h.read(), { ours: "ours", theirs: "theirs" });
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { ours: "ours", theirs: "theirs" }));
});

cases(
  "a file where we made a folder meanwhile, and the reverse, are conflicts and never both in the store",
  async (t) => {
    for (const [ours, theirs] of [
      ["x/ours", "x"],
      ["x", "x/theirs"],
      ["x/y/z", "x/y"],
      ["x", "x/y/z"],
    ]) {
      const h = await withPostgres(t, suite, { sessionId: `s${ours.length}-${theirs.length}` });
      await h.write("kept", "kept");
      const turn = await h.main.beginTurn();
      await turn.files.write(at(ours), "ours");
      await h.write(theirs, "theirs");
      assertFailed((await finish(turn)).persistence, "FS_CONFLICT");
      assertHolds(await h.read(), { kept: "kept", [theirs]: "theirs" });
      assert.ok((await h.persistence.conflicts()).length > 0);
    }
  },
);

cases(
  "another program reads what we wrote, and changes it: seen at the next load, a conflict where both did",
  async (t) => {
    const h = await withPostgres(t, suite);
    const large = Buffer.alloc(2_500_000, "large ");
    await inTurn(h.main, async (files) => {
      await files.write(at("notes.md"), "ours", { mediaType: "text/markdown" });
      await files.write(at("large"), large);
      await files.write(at("gone"), "gone");
    });
    const read = async (name) =>
      (await suite.pool.query(outside.READ_FILE, [h.scope, name])).rows.map(({ data }) => data);
    assert.equal(Buffer.concat(await read("notes.md")).toString(), "ours");
    const parts = await read("large");
    assert.deepEqual(
      parts.map((each) => each.length),
      [1_048_576, 1_048_576, 402_848],
    );
    assert.ok(Buffer.concat(parts).equals(large));
    const { rows } = await suite.pool.query(
      "SELECT path, bytes::int AS bytes, sha256, media_type FROM harness_files WHERE scope = $1 ORDER BY path",
      [h.scope],
    );
    assert.deepEqual(rows[2], { path: "notes.md", bytes: 4, sha256: sha256("ours"), media_type: "text/markdown" });
    await h.write("notes.md", "theirs");
    await h.write("new", "new");
    await h.remove("gone");
    await inTurn(h.main, () =>
      assertHolds(
        filesOf(h.checkout),
        new Map([
          ["large", large],
          ["new", "new"],
          ["notes.md", "theirs"],
        ]),
      ),
    );
    await leavePending(h.main, (files) => files.write(at("notes.md"), "ours again"));
    await h.write("notes.md", "theirs again");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.deepEqual(await conflictsOf(h.main, ["theirs", "ours again", "theirs again"]), {
      "notes.md": "theirs|ours again|theirs again",
    });
    await h.persistence.resolve(at("notes.md"), "ours");
    assertLanded(await h.persistence.commit(), { updated: 1 });
    assert.equal(Buffer.concat(await read("notes.md")).toString(), "ours again");
  },
);

cases("contents that are replaced or deleted leave no chunks", async (t) => {
  const h = await withPostgres(t, suite);
  const chunks = async () =>
    Number((await suite.pool.query("SELECT count(*) FROM harness_files_chunks")).rows[0].count);
  const before = await chunks();
  await inTurn(h.main, async (files) => {
    for (const name of ["a", "b", "c"]) await files.write(at(name), Buffer.alloc(1_500_000, name));
    await files.write(at("empty"), "");
  });
  assert.equal(await chunks(), before + 6);
  await inTurn(h.main, async (files) => {
    await files.write(at("a"), "small");
    await files.remove(at("b"));
  });
  assert.equal(await chunks(), before + 3);
  await leavePending(h.main, (files) => files.write(at("c"), "ours"));
  await h.write("c", "theirs");
  assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
  assert.equal(await chunks(), before + 2, "a commit that is refused leaves none");
});

cases("a scope that vanished is told, and empties nothing; one that was made anew is loaded whole", async (t) => {
  const h = await withPostgres(t, suite);
  await h.write("a", "a");
  await inTurn(h.main);
  await suite.pool.query(outside.DROP_CONTENT, [h.scope, "a"]);
  await suite.pool.query("DELETE FROM harness_files WHERE scope = $1", [h.scope]);
  await suite.pool.query("DELETE FROM harness_files_scopes WHERE scope = $1", [h.scope]);
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /no row in "harness_files_scopes" any more/ });
  assertHolds(filesOf(h.checkout), { a: "a" });
  await suite.pool.query("INSERT INTO harness_files_scopes (scope) VALUES ($1)", [h.scope]);
  await h.write("b", "b");
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { b: "b" }));
});

cases("chunks that are missing or too many are told, and nothing comes in", async (t) => {
  const h = await withPostgres(t, suite);
  const ruin = (what, name) =>
    suite.pool.query(
      `${what} WHERE content = (SELECT content FROM harness_files WHERE scope = $1 AND path = $2) AND part = 0`,
      [h.scope, name],
    );
  await h.write("kept", "kept");
  await inTurn(h.main);
  for (const [name, bytes] of Object.entries({ small: 10, large: 2_000_000 })) {
    for (const what of [
      "DELETE FROM harness_files_chunks",
      "UPDATE harness_files_chunks SET data = data || '\\x00'::bytea",
    ]) {
      await h.write(name, Buffer.alloc(what.startsWith("UPDATE") && bytes > 10 ? 1_000_000 : bytes, "x"));
      await ruin(what, name);
      const error = await h.main.beginTurn().catch((failure) => failure);
      assertError(error, "FS_LOAD_FAILED", { message: /do not add up/ });
      assertHolds(filesOf(h.checkout), { kept: "kept" });
    }
    await h.remove(name);
  }
});

cases("the purge of the docs: who has not seen a deletion loads anew", async (t) => {
  const h = await withPostgres(t, suite);
  for (const name of ["a", "b"]) await h.write(name, name);
  await inTurn(h.main);
  await h.remove("a");
  const purge = sqlOf("purge");
  await suite.pool.query(purge.replaceAll("interval '30 days'", "interval '0'"));
  const { rows } = await suite.pool.query("SELECT path FROM harness_files WHERE scope = $1", [h.scope]);
  assert.deepEqual(rows, [{ path: "b" }]);
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { b: "b" }));
  h.proxy.queries.length = 0;
  await inTurn(h.main);
  assert.equal(h.proxy.queries.length, 1);
});

cases("the SQL of the docs for other programs, by psql where it is there", async (t) => {
  const h = await withPostgres(t, suite, { dir: { scope: "ann" } });
  await inTurn(h.main);
  await run(t, sqlOf("put"));
  await inTurn(h.main, async (files) => assert.equal((await files.read(at("notes.md"))).text(), "Buy milk.\n"));
  await inTurn(h.main, (files) => files.write(at("notes.md"), "ours"));
  const { rows } = await suite.pool.query(sqlOf("read"));
  assert.equal(Buffer.concat(rows.map(({ data }) => data)).toString(), "ours");
  await run(t, sqlOf("put"));
  await inTurn(h.main, async (files) => assert.equal((await files.read(at("notes.md"))).text(), "Buy milk.\n"));
  await run(t, sqlOf("remove"));
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), {}));
  const left = await suite.pool.query(sqlOf("orphans"));
  assert.equal(left.rowCount, 0, "the SQL leaves no chunks behind");
  await run(t, sqlOf("forget"));
  await inTurn(h.main, () => assertHolds(filesOf(h.checkout), {}));
});

/** A block of docs/stores.md by the name in its first line, `-- name:`. */
function sqlOf(name) {
  const found = new RegExp(`\`\`\`sql\\n(-- ${name}:[^]*?)\`\`\``).exec(docs);
  assert.ok(found, `docs/stores.md has no SQL named ${name}`);
  return found[1];
}

async function run(t, sql) {
  if (!has("psql")) {
    await suite.pool.query(sql);
    return;
  }
  const { spawnSync } = await import("node:child_process");
  const ran = spawnSync("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", suite.server.url], {
    input: sql,
    encoding: "utf8",
  });
  assert.equal(ran.status, 0, ran.stderr);
}
