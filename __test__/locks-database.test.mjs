// A database that another program keeps locked: writers get FS_BUSY and change nothing, reads go on, other hosts do not notice.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { withHost } from "./support/host.mjs";
import { has, sleep, startProgram } from "./support/process.mjs";
import { leftovers, sha256, snapshot } from "./support/tree.mjs";

const HOLD =
  "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\nc.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\nsys.stdin.read()\n";

/** A host with some files, and a program that holds its database's write lock; undefined, and the test skipped, without python3. */
async function held(t) {
  if (!has("python3")) {
    t.skip("needs python3 with sqlite3, to hold the database's lock");
    return undefined;
  }
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "there");
  await h.files.write("/session/tree/b.txt", "there");
  const holder = startProgram(t, "python3", ["-c", HOLD, path.join(h.dataDir, "harness.db")]);
  try {
    await holder.line("held");
  } catch (error) {
    t.skip(`python3 cannot hold the lock: ${error.message}`);
    return undefined;
  }
  return { h, holder };
}

const ended = async (call, since) => {
  const code = await call().then(
    () => "it resolved",
    (error) => error.code,
  );
  return { code, seconds: (performance.now() - since) / 1000 };
};

const publishing = {
  "write a new file": (files) => files.write("/session/new/er.txt", "new"),
  "replace a file": (files) => files.write("/session/a.txt", "new"),
  "guarded write": (files) => files.write("/session/a.txt", "new", { ifMatch: sha256("there") }),
  "write a stream": (files) => files.write("/session/a.txt", new Blob(["new"]).stream()),
  writeJSON: (files) => files.writeJSON("/session/a.txt", { new: true }),
  remove: (files) => files.remove("/session/a.txt"),
  "recursive remove": (files) => files.remove("/session/tree", { recursive: true }),
};

// Side by side, since most of the time goes by waiting.
describe("a locked database", { concurrency: true }, () => {
  for (const [what, call] of Object.entries(publishing)) {
    test(
      `${what}: FS_BUSY after about 10 s, nothing changed; it works once the lock is free`,
      { timeout: 90_000 },
      async (t) => {
        const { h, holder } = (await held(t)) ?? {};
        if (!h) return;
        const before = snapshot(h.roots.session);
        const { code, seconds } = await ended(() => call(h.files), performance.now());
        assert.equal(code, "FS_BUSY");
        assert.ok(seconds > 5 && seconds < 60, `after ${seconds} s`);
        assert.deepEqual(snapshot(h.roots.session), before, "a call that rejects changed nothing");
        assert.deepEqual(leftovers(h.dataDir), []);
        const pending = call(h.files);
        await sleep(300);
        holder.kill();
        await pending;
      },
    );
  }
});

test("reads, listings and stat go on, of files whose hash is not settled too", { timeout: 60_000 }, async (t) => {
  const { h, holder } = (await held(t)) ?? {};
  if (!h) return;
  fs.writeFileSync(path.join(h.roots.session, "shell.txt"), "by a shell");
  await sleep(50);
  const start = performance.now();
  for (const name of ["/session/a.txt", "/session/shell.txt"]) {
    assert.match((await h.files.read(name)).text(), /there|by a shell/);
    assert.equal((await h.files.stat(name)).kind, "file");
    assert.match(await new Response(await h.files.readStream(name)).text(), /there|by a shell/);
  }
  assert.equal((await h.files.list("/session")).length, 3);
  assert.equal((await h.files.list("/session", { recursive: true })).length, 4);
  assert.deepEqual(await h.main.artifacts.list(), []);
  assert.equal((await h.main.status()).files, 3);
  assert.ok(
    performance.now() - start < 5000,
    `${Math.round(performance.now() - start)} ms: reading waits for no writer`,
  );
  holder.kill();
});

test("another host of the same process does not notice", { timeout: 90_000 }, async (t) => {
  const { h, holder } = (await held(t)) ?? {};
  if (!h) return;
  const other = await withHost(t);
  const waiting = Array.from({ length: 40 }, (_, n) => h.files.write(`/session/${n}.txt`, "x"));
  await sleep(200);
  const twenty = (async () => {
    for (let n = 0; n < 20; n++) await other.files.write(`/session/${n}.txt`, "x");
    return "20 writes";
  })();
  const first = await Promise.race([twenty, sleep(5000).then(() => "5 seconds")]);
  holder.kill();
  await Promise.allSettled([twenty, ...waiting]);
  assert.equal(first, "20 writes", "what came first");
});
