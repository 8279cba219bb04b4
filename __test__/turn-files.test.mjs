// `turn.files`: a FileWriter whose events belong to the turn; and what `finish` tells and does.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { onBackends } from "./support/backends.mjs";
import { ext4 } from "./support/mounts.mjs";
import { plant, rootsSnapshot } from "./support/tree.mjs";
import { begin } from "./support/turns.mjs";

test("events of turn.files have the turn's id and the source tool; host writes beside it stay the host's", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  await turn.files.write("/artifacts/a.txt", "x");
  await turn.files.writeText("/session/b.txt", "x", { source: "agent" });
  await h.files.write("/session/host.txt", "x");
  await turn.files.remove("/session/b.txt");
  await rejectsWith(turn.files.write("/elsewhere", "x"), "FS_SANDBOX_DENIED");
  const told = h.events.map(({ type, turnId, metadata }) => [
    type.replace("harness.", ""),
    turnId === turn.id,
    metadata.source,
  ]);
  assert.deepEqual(told, [
    ["file.created", true, "tool"],
    ["file.written_by_tool", true, "tool"],
    ["artifact.created", true, undefined],
    ["file.created", true, "agent"],
    ["file.written_by_tool", true, "agent"],
    ["file.created", false, "app-context"],
    ["file.staged_from_host", false, "app-context"],
    ["file.deleted", true, "tool"],
    ["file.refused", true, "tool"],
  ]);
  assert.equal((await turn.finish()).turnId, turn.id);
  assert.ok(h.events.every(({ turnId }) => turnId === undefined || turnId === turn.id));
});

onBackends("finish tells each file that was read, written and removed, as the disk names it", async (t, h) => {
  await h.files.write("/session/in.txt", "x");
  await h.files.write("/artifacts/in.txt", "x");
  await h.files.write("/session/tree/a.txt", "x");
  await h.files.write("/session/tree/deep/b.txt", "x");
  plant(h.roots.session, { "Absch\u00e4tzung.txt": "x" });
  const turn = await begin(t, h.main);
  await turn.files.read("/session/in.txt");
  await turn.files.read("/session/in.txt", { range: { start: 0, end: 1 } });
  await turn.files.read("/session/Abscha\u0308tzung.txt");
  await (await turn.files.readStream("/session/tree/a.txt")).cancel();
  await turn.context.artifacts.read("/artifacts/in.txt");
  await turn.files.write("/session/in.txt", "again");
  await turn.files.write(
    "/session/z.txt",
    (async function* () {
      yield "x";
    })(),
  );
  await turn.files.writeJSON("/session/Z.json", {});
  await turn.files.writeText("/session/\u{1f7e1}.txt", "x");
  await turn.files.writeText("/session/\uffee.txt", "x");
  await turn.files.write("/session/gone.txt", "x");
  await turn.files.remove("/session/gone.txt");
  await turn.files.remove("/session/tree", { recursive: true });
  await turn.files.remove("/session/never.txt", { force: true });
  // None of these count.
  await turn.files.stat("/session/z.txt");
  await turn.files.list("/session");
  await rejectsWith(turn.files.read("/session/none.txt"), "FS_NOT_FOUND");
  await rejectsWith(turn.files.write("/session/z.txt", "x", { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS");
  await rejectsWith(turn.files.remove("/session/none.txt"), "FS_NOT_FOUND");
  await h.files.write("/session/host.txt", "x");
  await h.files.read("/session/host.txt");
  assert.deepEqual((await turn.finish()).files, {
    read: ["/artifacts/in.txt", "/session/Absch\u00e4tzung.txt", "/session/in.txt", "/session/tree/a.txt"],
    written: [
      "/session/Z.json",
      "/session/gone.txt",
      "/session/in.txt",
      "/session/z.txt",
      "/session/\uffee.txt",
      "/session/\u{1f7e1}.txt",
    ],
    edited: [],
    removed: ["/session/gone.txt", "/session/tree/a.txt", "/session/tree/deep/b.txt"],
  });
});

test("more files than events are delivered at once: all are told, with and without a listener", async (t) => {
  for (const listens of [true, false]) {
    const h = await withHost(t, { trace: false });
    const host = listens ? h : await withHost(t, { base: h.base, onEvent: undefined });
    for (let at = 0; at < 700; at++)
      fs.writeFileSync(path.join(fs.mkdtempSync(path.join(h.roots.session, "d-")), "f.txt"), "x");
    const turn = await begin(t, host.main);
    const entries = (await turn.files.list("/session", { recursive: true })).filter(({ kind }) => kind === "file");
    for (const { path: folder } of await turn.files.list("/session"))
      await turn.files.remove(folder, { recursive: true });
    assert.deepEqual(
      (await turn.finish()).files.removed,
      entries.map((entry) => entry.path),
    );
    await h.close();
  }
});

test("the next turn starts from nothing", async (t) => {
  const h = await withHost(t);
  const first = await h.main.beginTurn();
  await first.files.write("/session/a.txt", "x");
  await first.abort();
  const second = await h.main.beginTurn();
  await second.files.read("/session/a.txt");
  assert.deepEqual((await second.finish()).files, { read: ["/session/a.txt"], written: [], edited: [], removed: [] });
});

test("a refused write of a turn changes nothing and is told", async (t) => {
  const h = await withHost(t, { quota: { fileBytes: 10 } });
  const turn = await begin(t, h.main);
  await turn.files.write("/session/a.txt", "kept");
  const before = rootsSnapshot(h.roots);
  await rejectsWith(turn.files.write("/session/a.txt", "x".repeat(11)), "FS_QUOTA_EXCEEDED");
  await rejectsWith(turn.files.write("/session/../a.txt", "x"), "FS_INVALID_PATH");
  await rejectsWith(turn.files.writeJSON("/session/a.txt", { a: 1n }), "FS_INVALID_CONTENT");
  assert.deepEqual(rootsSnapshot(h.roots), before);
  assert.deepEqual((await turn.finish()).files.written, ["/session/a.txt"]);
  assert.deepEqual(
    h.events.filter(({ type }) => type === "harness.file.refused").map(({ turnId }) => turnId),
    [turn.id, turn.id, turn.id],
  );
});

test("a signal of the caller's ends a call of a turn, with its reason; the turn goes on", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const reason = new Error("mine");
  const error = await rejectsWith(
    turn.files.write("/session/a.txt", "x", { signal: AbortSignal.abort(reason) }),
    "FS_ABORTED",
  );
  assert.equal(error.cause, reason);
  await turn.files.write("/session/b.txt", "x");
  assert.deepEqual((await turn.finish()).files.written, ["/session/b.txt"]);
});

for (const durability of ["turn", "none"]) {
  test(
    `durability "${durability}": after finish a power cut ${durability === "turn" ? "loses nothing" : "may lose what was written"}`,
    { timeout: 60_000 },
    async (t) => {
      const disk = ext4(t);
      if (disk === undefined) return;
      const h = await withHost(t, { dataDir: path.join(disk.folder, "data"), durability });
      const turn = await begin(t, h.main);
      for (let at = 0; at < 20; at++) await turn.files.write(`/session/${at}/f.txt`, `content ${at}`);
      await turn.finish();
      const left = disk.cut();
      if (left === undefined) return;
      const folder = path.join(left, path.relative(disk.folder, h.roots.session));
      const whole = Array.from({ length: 20 }, (_, at) => {
        try {
          return fs.readFileSync(path.join(folder, String(at), "f.txt"), "utf8") === `content ${at}`;
        } catch {
          return false;
        }
      });
      if (durability === "turn")
        assert.ok(whole.every(Boolean), `${whole.filter((each) => !each).length} of 20 were lost`);
      t.diagnostic(`${whole.filter(Boolean).length} of 20 survived`);
    },
  );
}
