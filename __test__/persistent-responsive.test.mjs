// G10 in Persistent Dirs: very many files and changes, a large cursor and a large `extraBody` do not hold the event loop.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { customDir } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { staysResponsive } from "./support/stall.mjs";

const COUNT = 20_000;
const harnessDir = "/persistent/many";

/** As a shell would: the turn only finds them. */
function plantMany(session, round) {
  const folder = session.hostPaths().persistent[harnessDir];
  for (let n = 0; n < COUNT; n++) {
    if (n < 100) fs.mkdirSync(path.join(folder, String(n)), { recursive: true });
    fs.writeFileSync(path.join(folder, String(n % 100), `${n}.txt`), `file ${n} of ${round}`);
  }
}

async function withStore(t, callbacks) {
  const persistentDirs = [customDir({ harnessDir, scope: () => "one", load: async () => ({}), ...callbacks })];
  const { host } = await withHost(t, { persistentDirs, durability: "none", trace: false });
  return host.sessions.getOrCreate({ id: "test" });
}

test("very many changes are found, listed, committed and given up", { timeout: 280_000 }, async (t) => {
  let sent = 0;
  let fails = true;
  const session = await withStore(t, {
    async store({ changes }) {
      sent = changes.entries.length;
      if (fails) throw new Error("down");
    },
  });
  let turn;
  let round = 0;
  const plant = async () => plantMany(session, (round += 1));
  await staysResponsive(
    () => turn.finish(),
    30,
    async () => {
      turn = await session.beginTurn();
      await plant();
    },
  );
  assert.equal(sent, COUNT);
  let pending;
  await staysResponsive(async () => (pending = await session.persistence.pending()));
  assert.equal(pending.length, COUNT);
  const order = pending.map(({ since, path: name }) => [since.getTime(), Buffer.from(name)]);
  const sorted = order.toSorted((a, b) => a[0] - b[0] || Buffer.compare(a[1], b[1]));
  assert.deepEqual(order, sorted, "oldest first, then by the bytes of the path");
  fails = false;
  const commit = async () => {
    sent = 0;
    assert.equal((await session.persistence.commit()).status, "succeeded");
    assert.equal(sent, COUNT);
  };
  await staysResponsive(commit, 30, plant);
  assert.deepEqual(await session.persistence.pending(), []);
  await staysResponsive(() => session.persistence.discard({ harnessDirs: [harnessDir] }), 30, plant);
  assert.deepEqual(await session.persistence.pending(), []);
});

test("pending changes of several dirs are in one order", async (t) => {
  const names = ["/persistent/a", "/persistent/a-b", "/persistent/c"];
  const persistentDirs = names.map((name) =>
    customDir({
      harnessDir: name,
      commit: "manual",
      scope: () => "one",
      load: async () => ({}),
      store: async () => {},
    }),
  );
  const { files, host } = await withHost(t, { persistentDirs });
  const session = await host.sessions.getOrCreate({ id: "test" });
  for (const name of ["c", "a-b", "a", "c", "a"].keys()) {
    await files.writeText(`${names[(name * 2) % 3]}/${name}.txt`, "x");
  }
  const order = (await session.persistence.pending()).map(({ since, path: name }) => [since.getTime(), name]);
  assert.equal(order.length, 5);
  assert.deepEqual(
    order,
    order.toSorted(([at, one], [other, two]) => at - other || (one < two ? -1 : 1)),
  );
});

test("a store that lists very many files at once", { timeout: 120_000 }, async (t) => {
  const all = Array.from({ length: 100_000 }, (_, n) => ({ path: `${n}.txt`, kind: "file", version: "1" }));
  const failure = new Error("enough");
  const session = await withStore(t, {
    load: undefined,
    list: async () => all,
    read: async () => {
      throw failure;
    },
    write: async () => {},
    delete: async () => {},
  });
  await staysResponsive(() => assert.rejects(session.beginTurn(), { code: "FS_LOAD_FAILED", cause: failure }));
});

test("a cursor of many megabytes is kept and given back", { timeout: 120_000 }, async (t) => {
  const rows = Array.from({ length: 100_000 }, (_, n) => ({ n, tag: `"${n}\\`, none: null }));
  const cursor = { rows, ["__proto__"]: "a name", text: "é".repeat(1e6), empty: [[], {}, "", 0, -1.5e-7, true] };
  let given;
  const session = await withStore(t, {
    load: async () => ({ files: {}, cursor }),
    store: async (ctx) => {
      given = ctx.cursor;
      return { cursor };
    },
  });
  let round = 0;
  await staysResponsive(async () => {
    given = undefined;
    const turn = await session.beginTurn();
    await turn.files.writeText(`${harnessDir}/a.txt`, `round ${(round += 1)}`);
    await turn.finish();
  });
  assert.equal(JSON.stringify(given), JSON.stringify(cursor));
});

test("a large extraBody tells one store from another", { timeout: 120_000 }, async (t) => {
  const body = (user) => ({ rows: Array.from({ length: 100_000 }, (_, n) => ({ n, user })) });
  const [ada, bob] = [body("ada"), body("bob")];
  const session = await withStore(t, { scope: undefined, store: async () => {}, commit: "manual" });
  await staysResponsive(async () => {
    const turn = await session.beginTurn({ extraBody: ada });
    await turn.files.writeText(`${harnessDir}/a.txt`, "x");
    await turn.finish();
  });
  await assert.rejects(session.beginTurn({ extraBody: bob }), { code: "FS_CONFLICT" });
  const again = await session.beginTurn({ extraBody: { rows: ada.rows.map(({ n, user }) => ({ user, n })) } });
  await again.finish();
});
