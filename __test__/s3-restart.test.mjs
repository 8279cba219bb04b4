// A server that is killed in the midst of a load or commit, and comes back with what it held.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BUCKET, missingS3, startS3 } from "../scripts/engines/s3.mjs";
import { after, rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
  withStore,
} from "./support/persistent/session.mjs";
import { openStore } from "./support/s3/store.mjs";

async function ownServer(t) {
  const missing = missingS3();
  if (missing !== undefined) {
    if (process.env.CI) throw new Error(missing);
    t.skip(missing);
    return {};
  }
  const server = await startS3();
  after(t, () => server.stop());
  const store = openStore({ port: server.port, prefix: `${BUCKET}/`, options: { concurrency: 2 } });
  after(t, () => store.close());
  return { server, store };
}

test("killed before the k-th request of a commit, for every k", { timeout: 120_000 }, async (t) => {
  const { server, store } = await ownServer(t);
  if (store === undefined) return;
  const h = await withStore(t, store);
  await inTurn(h.main);
  const names = ["a", "b/c", "b/d"];
  let round = 0;
  for (let k = 1, failed = true; failed; k++) {
    const text = `round ${++round}`;
    await leavePending(h.main, async (files) => {
      for (const name of names) await files.write(at(name), text);
      await files.write(at(`made/${round}`), text);
      if (round > 1) await files.remove(at(`made/${round - 1}`));
    });
    const heal = store.proxy.fail(k, () => server.kill(), { of: () => true });
    const status = await h.persistence.commit();
    heal();
    failed = status.status === "failed";
    if (!failed) break;
    assertFailed(status, "FS_COMMIT_FAILED");
    // While it is down, the session goes on with what it has.
    assert.ok((await pendingOf(h.main)).length > 0);
    assert.equal((await h.files.read(at("a"))).text(), text);
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    await server.start();
    assertLanded((await inTurn(h.main)).persistence);
    const wanted = new Map(names.map((name) => [name, text])).set(`made/${round}`, text);
    assertHolds(store.read(), wanted, `k = ${k}`);
    assertHolds(filesOf(h.checkout), wanted);
    assert.deepEqual(await pendingOf(h.main), []);
  }
  assert.ok(round >= 5, `${round} rounds`);
});
