// Killed at any moment: each path holds the old or the new content whole, nothing else is visible, the next open cleans up.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { tagged, tagOf } from "./support/content.mjs";
import { holdLock, seeded, sleep, startChild } from "./support/process.mjs";
import { leftovers } from "./support/tree.mjs";

const ROUNDS = Number(process.env.LF_KILL_ROUNDS ?? 8);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const MiB = 1 << 20;

const stagingOf = (dataDir, id) => {
  const folder = path.join(dataDir, "sessions", id, "staging");
  return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
};

/** Lets the program run for a random while after it says so, and kills it. */
async function killSoon(t, random, args, most) {
  const child = startChild(t, "writing", args);
  await child.line("writing");
  const delay = random() * most;
  await sleep(delay);
  child.kill();
  const end = await child.ended;
  assert.equal(end.signal, "SIGKILL", `it ended by itself: ${end.stderr}`);
  return Math.round(delay);
}

test(`SIGKILL in the midst of a 64 MiB stream (LF_SEED=${seed})`, { timeout: 180_000 }, async (t) => {
  const random = seeded(seed);
  const base = tempDir(t);
  const dataDir = path.join(base, "data");
  const h = await withHost(t, { base, sessionId: "killed" });
  await h.files.write("/session/a.bin", tagged("old", 3 * MiB));
  await h.close();
  const outcomes = [];
  for (let round = 0; round < ROUNDS; round++) {
    const tag = `r${round}`;
    const before = tagOf(fs.readFileSync(path.join(h.roots.session, "a.bin")));
    const delay = await killSoon(t, random, [dataDir, "killed", "stream", tag], 300);
    const now = tagOf(fs.readFileSync(path.join(h.roots.session, "a.bin")));
    assert.ok(now === before || now === tag, `${now} is neither ${before} nor ${tag}`);
    assert.ok([3 * MiB, 64 * MiB].includes(fs.statSync(path.join(h.roots.session, "a.bin")).size));
    assert.deepEqual(fs.readdirSync(h.roots.session), ["a.bin"], "nothing else is visible");
    const again = await withHost(t, { base, sessionId: "killed" });
    assert.deepEqual(leftovers(dataDir), [], "the next open cleans up");
    assert.ok(stagingOf(dataDir, "killed").length <= 1, "only the open host's own staging folder");
    const data = await again.files.read("/session/a.bin");
    assert.equal(tagOf(data.content), now);
    const stat = await again.files.stat("/session/a.bin");
    assert.ok(stat.sha256 === undefined || stat.sha256 === data.sha256);
    await again.close();
    outcomes.push(`${delay} ms: ${now === tag ? "new" : "old"}`);
  }
  t.diagnostic(outcomes.join(", "));
});

test(
  `SIGKILL in the midst of many small writes, replaces and removes (LF_SEED=${seed})`,
  { timeout: 180_000 },
  async (t) => {
    const random = seeded(seed + 1);
    const base = tempDir(t);
    const dataDir = path.join(base, "data");
    const sequences = [];
    for (let round = 0; round < ROUNDS; round++) {
      await killSoon(t, random, [dataDir, "killed", "small", `r${round}`], 400);
      const h = await withHost(t, { base, sessionId: "killed" });
      assert.deepEqual(leftovers(dataDir), []);
      assert.ok(stagingOf(dataDir, "killed").length <= 1);
      assert.equal(
        h.events.filter((event) => event.type === "harness.index.rebuilt").length,
        0,
        "a kill damages no index",
      );
      for (const root of ["/session", "/artifacts"]) {
        for (const entry of await h.files.list(root, { recursive: true })) {
          if (entry.kind !== "file") continue;
          assert.match(entry.path, /^\/(session|artifacts)\/(new|same|gone)\/[\w-]+(\/er\/\d+)?\.bin$/);
          const data = await h.files.read(entry.path);
          assert.match(tagOf(data.content), /^r\d+/, "whole, of one write");
          assert.equal(data.content.length % 1000, 0);
          assert.equal(entry.bytes, data.bytes);
          assert.ok(
            entry.sha256 === undefined || entry.sha256 === data.sha256,
            `${entry.path}: the index is not behind the file`,
          );
        }
      }
      await h.files.write("/session/same/alive.bin", tagged(`r${round}`, 1000));
      sequences.push(...h.events.filter((event) => event.sessionId === "killed").map((event) => event.sequence));
      await h.close();
    }
    assert.ok(
      sequences.every((each, at) => at === 0 || each > sequences[at - 1]),
      "events go on counting",
    );
    const lines = fs
      .readFileSync(path.join(dataDir, "sessions", "killed", "trace.ndjson"), "utf8")
      .trimEnd()
      .split("\n");
    const whole = lines.flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
    assert.ok(lines.length - whole.length <= ROUNDS, "at most the last line of a run is torn");
    assert.equal(new Set(whole.map((event) => event.sequence)).size, whole.length);
  },
);

test("what a killed host left in staging/ goes when the session opens; what a living one has there stays", async (t) => {
  const base = tempDir(t);
  const first = await withHost(t, { base });
  await first.close();
  const staging = path.join(first.home, "staging");
  fs.mkdirSync(path.join(staging, "left-behind"), { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(staging, "left-behind", "temp"), "x");
  fs.mkdirSync(path.join(staging, "held"), { mode: 0o700 });
  fs.writeFileSync(path.join(staging, "held", "temp"), "x");
  const outside = path.join(base, "outside");
  fs.writeFileSync(path.join(outside, "keep"), "x");
  fs.symlinkSync(outside, path.join(staging, "left-behind", "link"));
  const holder = await holdLock(t, path.join(staging, "held"));
  if (holder === undefined) return;
  const second = await withHost(t, { base });
  assert.ok(!fs.existsSync(path.join(staging, "left-behind")));
  assert.ok(fs.existsSync(path.join(outside, "keep")));
  assert.ok(fs.existsSync(path.join(staging, "held", "temp")), "a folder whose lock is held is left alone");
  await second.close();
  await holder.release();
  const third = await withHost(t, { base });
  assert.ok(!fs.existsSync(path.join(staging, "held")), "it goes once its holder has died");
  await third.close();
});

test("a killed process leaves no lock that holds up the next", async (t) => {
  const base = tempDir(t);
  const dataDir = path.join(base, "data");
  for (let round = 0; round < 3; round++) {
    const child = startChild(t, "writing", [dataDir, "killed", "small", "r0"]);
    await child.line("writing");
    child.kill();
    await child.ended;
    const start = performance.now();
    const h = await withHost(t, { base, sessionId: "killed" });
    await h.files.write("/session/same/next.bin", "x");
    assert.ok(performance.now() - start < 5000, "no wait for the dead");
    await h.files.remove("/session/same/next.bin");
    await h.sessions.delete("killed");
    await h.close();
  }
});
