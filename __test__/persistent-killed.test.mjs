// A localDir commit that is killed at any moment: whoever opens the source next, from whatever dataDir, finds all files of the
// commit or none; and the one that was killed has lost nothing. LF_KILL_ROUNDS: 10 by default.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localDir } from "@little-stack/files";
import { tagged, tagOf } from "./support/content.mjs";
import { tempDir } from "./support/host.mjs";
import { startActor } from "./support/persistent/actor.mjs";
import { DIR, roundFiles, roundOf, SIZE } from "./support/persistent/rounds.mjs";
import { assertHolds, assertLanded, filesOf, inTurn, withDirs } from "./support/persistent/session.mjs";
import { newStore, openStore } from "./support/persistent/stores.mjs";
import { seeded, sleep, startChild } from "./support/process.mjs";

const ROUNDS = Number(process.env.LF_KILL_ROUNDS ?? 10);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const FILES = 40;

/** Lets the program commit, and kills it a random while after a commit began. Gives the round that was under way. */
async function killed(t, random, args, most) {
  const child = startChild(t, "committing", args);
  const first = Number(args.at(-1));
  const round = first + Math.floor(random() * 2);
  await child.line(`committing ${round}`);
  await sleep(random() * most);
  child.kill();
  const end = await child.ended;
  assert.equal(end.signal, "SIGKILL", `it ended by itself: ${end.stdout}${end.stderr}`);
  const started = end.stdout.match(/committing \d+/g).length;
  const done = end.stdout.match(/committed \d+/g)?.length ?? 0;
  return { last: first + started - 1, done: done > 0 ? first + done - 1 : undefined };
}

test(`SIGKILL in the midst of a localDir commit (LF_SEED=${seed})`, { timeout: 280_000 }, async (t) => {
  const random = seeded(seed);
  const base = tempDir(t);
  const source = path.join(base, "source");
  const dataDir = path.join(base, "data");
  const outcomes = {};
  const sourceDir = localDir({ harnessDir: DIR, sourceDir: source });
  let first = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = fs.existsSync(source) ? roundOf(filesOf(source), FILES, "before") : undefined;
    const { last, done } = await killed(t, random, [dataDir, source, FILES, first], 60);

    // Other programs see each file whole, but may see some of the commit before others.
    for (const [name, bytes] of filesOf(source)) {
      assert.equal(bytes.length, SIZE, `${name} is torn`);
      tagOf(bytes);
    }
    // A host that knows nothing of the first: another dataDir.
    const other = await withDirs(t, [sourceDir], { base: tempDir(t) });
    const turn = await other.main.beginTurn();
    const seen = roundOf(filesOf(other.checkout), FILES, "in another host's checkout");
    assert.equal(roundOf(filesOf(source), FILES, "in the source"), seen);
    const possible = done === undefined ? [before, last] : [done, last];
    assert.ok(possible.includes(seen), `${seen} is none of ${possible}`);
    assertLanded((await turn.finish()).persistence, {});
    assert.deepEqual(await other.persistence.pending(), []);
    await other.close();

    // The one that was killed: what did not land is pending, and lands.
    const again = await withDirs(t, [sourceDir], { base });
    assert.deepEqual(await again.persistence.conflicts(), []);
    // (Past its last commit it may have written a part of its next turn.)
    if (done === last) await again.persistence.discard({ harnessDirs: [DIR] });
    assertLanded(await again.persistence.commit());
    assert.deepEqual(await again.persistence.pending(), []);
    assert.equal(roundOf(filesOf(source), FILES, "after its own commit"), last);
    assertHolds(filesOf(again.checkout), filesOf(source));
    assertLanded((await inTurn(again.main)).persistence, {});
    await again.close();
    const what = seen === last ? "all" : "none";
    outcomes[what] = (outcomes[what] ?? 0) + 1;
    first = last + 1;
  }
  t.diagnostic(JSON.stringify(outcomes));
  // What a commit left that was killed when it had landed, the next commit takes away.
  const next = await withDirs(t, [sourceDir], { base });
  assertLanded((await inTurn(next.main, (files) => files.write(`${DIR}/more`, "more"))).persistence, { created: 1 });
  const own = path.join(source, ".little-harness");
  const left = fs.existsSync(own) ? fs.readdirSync(own, { recursive: true, withFileTypes: true }) : [];
  const bytes = left.filter((entry) => entry.isFile()).length;
  assert.ok(bytes < 20, `${bytes} files are left in .little-harness`);
});

test(`SIGKILL, and nobody opens but the one that was killed (LF_SEED=${seed})`, { timeout: 280_000 }, async (t) => {
  const random = seeded(seed + 1);
  const base = tempDir(t);
  const source = path.join(base, "source");
  const dataDir = path.join(base, "data");
  let first = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { last } = await killed(t, random, [dataDir, source, FILES, first], 60);
    first = last + 1; // the next program goes on at once, over whatever was left
  }
  const h = await withDirs(t, [localDir({ harnessDir: DIR, sourceDir: source })], { base });
  // The last kill may have come while a round was being written: what is there of it is pending, and goes with this one.
  const finished = await inTurn(h.main, async (files) => {
    for (const name of roundFiles(FILES)) await files.write(`${DIR}/${name}`, tagged(`r${first}`, SIZE));
    for (const { path: other } of await files.list(`${DIR}/new`)) await files.remove(other);
    await files.write(`${DIR}/new/r${first}.txt`, tagged(`r${first}`, SIZE));
  });
  assertLanded(finished.persistence);
  assert.equal(roundOf(filesOf(source), FILES), first);
  assertHolds(filesOf(h.checkout), filesOf(source));
});

// A store of callbacks: killed inside its k-th call, before and after it was applied.
for (const kind of ["map", "cursor", "files", "plain"]) {
  for (const when of ["kill-before", "kill-after"]) {
    test(`${kind}: killed inside each call of a commit, ${when}`, { timeout: 120_000 }, async (t) => {
      const old = { changed: "old", deleted: "old", kept: "old" };
      const wanted = { changed: "new", kept: "old", "made/1": "one", "made/2": "two" };
      const calls = kind === "map" || kind === "cursor" ? 1 : 4;
      for (let k = 1; k <= calls; k++) {
        const { spec } = await newStore(kind)(t);
        const store = openStore(spec);
        for (const [name, text] of Object.entries(old)) store.write(name, text);
        const base = tempDir(t);
        const actor = startActor(t, { dataDir: path.join(base, "data"), store });
        await actor.ask({ op: "begin" });
        await actor.ask({ op: "write", name: "changed", text: "new" });
        await actor.ask({ op: "remove", name: "deleted" });
        await actor.ask({ op: "write", name: "made/1", text: "one" });
        await actor.ask({ op: "write", name: "made/2", text: "two" });
        await actor.ask({ op: "fail", k, when });
        actor.tell({ op: "finish" });
        assert.equal((await actor.ended).signal, "SIGKILL");

        const h = await withDirs(t, [store.dir({ harnessDir: DIR })], { base });
        assertHolds(filesOf(h.checkout), wanted, "all is there");
        const pending = new Set((await h.persistence.pending()).map((each) => each.path));
        const held = store.read();
        for (const [name, text] of Object.entries({
          changed: "new",
          deleted: undefined,
          "made/1": "one",
          "made/2": "two",
        })) {
          const landed = held.get(name)?.toString() === text;
          assert.ok(landed || pending.has(`${DIR}/${name}`), `${name} is lost at call ${k}`);
        }
        assert.deepEqual(await h.persistence.conflicts(), []);
        assertLanded(await h.persistence.commit());
        assertHolds(store.read(), wanted);
        assert.deepEqual(await h.persistence.pending(), []);
        assert.deepEqual(await h.persistence.conflicts(), []);
        // What was recorded as landed before the kill is not sent again.
        const sent = store.commitCalls;
        if (calls > 1) assert.ok(sent.length <= calls - k + 1, `${sent.length} calls after a kill at ${k}`);
        await h.close();
      }
    });
  }
}
