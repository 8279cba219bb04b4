// A shell writes in the checkout while loads, commits and host writes run: its last version of each file has landed, is pending
// or in conflict; no file of the store is a mix; nothing that another program wrote is overwritten unseen.
// LF_RACE_SECONDS: 3 by default, for each store.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { at, filesOf, inTurn, withStore } from "./support/persistent/session.mjs";
import { newStore } from "./support/persistent/stores.mjs";
import { lastJson, sleep, startChild } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const seconds = Number(process.env.LF_RACE_SECONDS ?? 3);
const SHARED = ["a", "b.txt", "deep/c", "deep/d/e"];

/** What a shell wrote is the same few words, over and over; a mix of two versions is not. */
function assertWhole(name, bytes) {
  const text = bytes.toString();
  const [, word] = /^(shell \S+ \d+|outside \d+|host \d+)/.exec(text) ?? [];
  assert.ok(word, `${name}: ${text.slice(0, 60)}`);
  assert.equal(text, `${word} `.repeat((text.length + 1) / (word.length + 1)).trimEnd(), `${name} is a mix`);
}

for (const kind of ["local", "cursor", "files", "plain"]) {
  test(`${kind}: a shell beside turns, outside changes and host writes`, { timeout: 120_000 }, async (t) => {
    const store = await newStore(kind)(t);
    for (const name of SHARED) store.write(name, "outside 0");
    const h = await withStore(t, store);
    await inTurn(h.main);
    const child = startChild(t, "shell", [h.checkout, SHARED.join(","), seconds * 1000]);
    await child.line("working");
    /** Every content that the store ever held, by name. */
    const seen = new Map();
    const look = () => {
      for (const [name, bytes] of store.read()) {
        assertWhole(name, bytes);
        if (!seen.has(name)) seen.set(name, new Set());
        seen.get(name).add(sha256(bytes));
      }
    };
    const outcomes = {};
    let outside = 0;
    let hosts = 0;
    for (let round = 0; !child.out.done; round++) {
      // (A localDir has other programs of its own kind here: they replace files whole.)
      if (round % 5 === 4) store.write(`theirs/${round % 3}`, `outside ${++outside}`);
      if (round % 7 === 6) await h.files.write(at(`host/${round % 3}`), `host ${++hosts}`).catch(() => {});
      const { persistence } = await inTurn(h.main, () => sleep(Math.random() * 10));
      const outcome = persistence.failedCommits?.[0].error.code ?? persistence.status;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      look();
      for (const { path: file } of await h.persistence.conflicts()) await h.persistence.resolve(file, "ours");
    }
    const { last, count } = lastJson(await child.ended);
    t.diagnostic(`${count} versions of the shell, ${outside} of others: ${JSON.stringify(outcomes)}`);
    assert.ok((outcomes.succeeded ?? 0) > 0);
    for (const code of Object.keys(outcomes)) assert.match(code, /^(succeeded|FS_CONFLICT)$/);

    // Nobody has changed the shell's files but the shell: its last version is there, and lands.
    const inCheckout = filesOf(h.checkout);
    for (const [name, text] of Object.entries(last))
      assert.equal(inCheckout.get(name)?.toString() ?? null, text, `${name}: the last version is not in the checkout`);
    const pending = (await h.persistence.pending()).map((each) => each.path);
    for (const [name, text] of Object.entries(last)) {
      const landed = (store.read().get(name)?.toString() ?? null) === text;
      assert.ok(landed !== pending.includes(at(name)), `${name}: landed ${landed}, pending ${pending}`);
    }
    for (let round = 0; round < 2; round++) await inTurn(h.main);
    const held = store.read();
    for (const [name, text] of Object.entries(last)) assert.equal(held.get(name)?.toString() ?? null, text, name);
    for (const [name, bytes] of filesOf(h.checkout)) assert.ok(held.get(name)?.equals(bytes), name);
    assert.deepEqual(await h.persistence.pending(), []);
    assert.deepEqual(
      fs.readdirSync(path.dirname(h.checkout)).filter((name) => !name.startsWith("aside-")).length > 0,
      true,
    );
  });

  test(`${kind}: a shell and another program on the same files`, { timeout: 120_000 }, async (t) => {
    const store = await newStore(kind)(t);
    for (const name of SHARED) store.write(name, "outside 0");
    const h = await withStore(t, store);
    await inTurn(h.main);
    const child = startChild(t, "shell", [h.checkout, SHARED.join(","), seconds * 1000]);
    await child.line("working");
    let outside = 0;
    let conflicts = 0;
    for (let round = 0; !child.out.done; round++) {
      const name = SHARED[round % SHARED.length];
      const theirs = `outside ${++outside}`;
      // Replaced whole, since a write in two steps could be read in its midst by anybody.
      if (kind === "local") {
        const real = path.join(store.source(), name);
        fs.mkdirSync(path.dirname(real), { recursive: true });
        fs.writeFileSync(`${store.source()}.aside`, theirs);
        fs.renameSync(`${store.source()}.aside`, real);
      } else {
        store.write(name, theirs);
      }
      await inTurn(h.main, () => sleep(Math.random() * 5));
      for (const [each, bytes] of store.read()) assertWhole(each, bytes);
      for (const conflict of await h.persistence.conflicts()) {
        conflicts++;
        const data = await conflict.readTheirs();
        if (data !== undefined) assertWhole(conflict.path, Buffer.from(data.content));
        assert.equal(data?.sha256, conflict.theirs?.sha256);
        await h.persistence.resolve(conflict.path, round % 2 === 0 ? "ours" : "theirs").catch((error) => {
          // The shell has made it what theirs is, or put it back, in the meantime.
          assert.equal(error.code, "FS_NOT_FOUND", error.message);
        });
      }
    }
    const { count } = lastJson(await child.ended);
    t.diagnostic(`${count} versions of the shell, ${outside} of others, ${conflicts} conflicts`);
    assert.ok(conflicts > 0, "they met");
    for (let round = 0; round < 3; round++) {
      await inTurn(h.main);
      for (const conflict of await h.persistence.conflicts()) await h.persistence.resolve(conflict.path, "ours");
    }
    const held = store.read();
    const inCheckout = filesOf(h.checkout);
    assert.deepEqual([...inCheckout.keys()].sort(), [...held.keys()].sort());
    for (const [name, bytes] of inCheckout) assert.ok(held.get(name).equals(bytes), name);
  });
}
