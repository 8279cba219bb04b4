// `turn.track`: what a shell changed under the roots while something ran, as a list and as events.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { tryHarnessToolContext } from "@little-stack/files";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { onBackends } from "./support/backends.mjs";
import { dataDirOfNobody } from "./support/drop-rights.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { fifo, isRoot, link, plant, sha256 } from "./support/tree.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { begin, nextTurnStarts } from "./support/turns.mjs";

const shell = (script, options) => promisify(execFile)("sh", ["-c", script], options);
const version = (content) => ({ bytes: Buffer.byteLength(content), sha256: sha256(content) });

onBackends("created, updated and deleted files, sorted, with what they were and are", async (t, h) => {
  await h.files.write("/session/kept.txt", "same");
  await h.files.write("/session/changed.txt", "old");
  await h.files.write("/session/rewritten.txt", "same bytes");
  await h.files.write("/artifacts/gone.txt", "gone");
  await h.files.write("/session/folder/inner.txt", "x");
  const turn = await begin(t, h.main);
  h.events.length = 0;
  const { result, changes } = await turn.track(async () => {
    const script =
      'printf new > changed.txt; printf "same bytes" > rewritten.txt; mkdir -p sub; printf made > sub/made.txt; rm -r folder; rm ../artifacts/gone.txt';
    execFileSync("sh", ["-c", script], { cwd: h.roots.session });
    return "result";
  });
  assert.equal(result, "result");
  const expected = [
    { path: "/artifacts/gone.txt", change: "deleted", before: version("gone") },
    { path: "/session/changed.txt", change: "updated", before: version("old"), after: version("new") },
    { path: "/session/folder/inner.txt", change: "deleted", before: version("x") },
    { path: "/session/sub/made.txt", change: "created", after: version("made") },
  ];
  assert.deepEqual(changes, expected);
  const told = h.events.map(({ type, turnId, metadata }) => ({
    type,
    mine: turnId === turn.id,
    path: metadata.path,
    source: metadata.source,
  }));
  assert.deepEqual(
    told,
    expected.map(({ path: where, change }) => ({
      type: `harness.file.${change}`,
      mine: true,
      path: where,
      source: "tool",
    })),
  );
  assert.deepEqual((await turn.finish()).files, {
    read: [],
    written: ["/session/changed.txt", "/session/sub/made.txt"],
    edited: [],
    removed: ["/artifacts/gone.txt", "/session/folder/inner.txt"],
  });
});

test("writes of this library inside are not told twice; nothing changed is an empty list", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const { changes } = await turn.track(
    async () => {
      await turn.files.write("/session/ours.txt", "x");
      await h.files.write("/session/host.txt", "x");
      fs.writeFileSync(path.join(h.roots.session, "theirs.txt"), "x");
    },
    { source: "shell" },
  );
  assert.deepEqual(
    changes.map((change) => change.path),
    ["/session/theirs.txt"],
  );
  assert.deepEqual(
    h.events.filter((event) => event.metadata.source === "shell").map((event) => event.metadata.path),
    ["/session/theirs.txt"],
  );
  assert.deepEqual((await turn.track(async () => 1)).changes, []);
});

test("fn runs inside the turn; when it throws, its error comes and the events all the same", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const { result } = await turn.track(async () => tryHarnessToolContext()?.turnId);
  assert.equal(result, turn.id);
  const own = new Error("the shell failed");
  await assert.rejects(
    turn.track(async () => {
      fs.writeFileSync(path.join(h.roots.session, "half.txt"), "x");
      throw own;
    }),
    (error) => error === own,
  );
  assert.deepEqual(
    h.events.map((event) => event.metadata.path),
    ["/session/half.txt"],
  );
  assert.deepEqual((await turn.finish()).files.written, ["/session/half.txt"]);
});

test("options that make no sense: nothing runs", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const ran = [];
  for (const options of [5, { source: "" }, { source: 1 }])
    await rejectsWith(
      turn.track(async () => ran.push(1), options),
      "FS_INVALID_OPTION",
    );
  assert.deepEqual(ran, []);
});

test("the turn may end while fn runs: then there is FS_CLOSED, and nothing waits", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  await rejectsWith(
    turn.track(async () => {
      await turn.finish();
    }),
    "FS_CLOSED",
  );
  await nextTurnStarts(h.main);
});

test("links and special files are left alone", async (t) => {
  const h = await withHost(t);
  fs.writeFileSync(path.join(h.outside, "secret.txt"), "secret");
  const turn = await begin(t, h.main);
  const { changes } = await turn.track(async () =>
    plant(h.roots.session, { in: link(h.outside), gone: link("nowhere"), pipe: fifo(), "f.txt": "x" }),
  );
  assert.deepEqual(
    changes.map((change) => change.path),
    ["/session/f.txt"],
  );
});

test("a change of the same size right after a write, and one with its time put back, are seen", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  for (let round = 0; round < 10; round++) {
    await turn.files.write("/session/a.txt", `round ${round} a`);
    const { changes } = await turn.track(async () => {
      const file = path.join(h.roots.session, "a.txt");
      const { atime, mtime } = fs.statSync(file);
      fs.writeFileSync(file, `round ${round} b`);
      if (round % 2 === 0) fs.utimesSync(file, atime, mtime);
    });
    assert.deepEqual(changes, [
      {
        path: "/session/a.txt",
        change: "updated",
        before: version(`round ${round} a`),
        after: version(`round ${round} b`),
      },
    ]);
  }
});

test("files in a folder that cannot be looked into are not deleted ones", async (t) => {
  if (!isRoot) return t.skip("needs root, to start a program as another user");
  const dataDir = dataDirOfNobody(tempDir(t));
  const { shut, beside, opened, removed } = lastJson(await runChild(t, "shut-folder", [dataDir]));
  assert.deepEqual(shut, []);
  assert.deepEqual(
    beside.map(({ path: where, change }) => [where, change]),
    [["/session/beside.txt", "updated"]],
  );
  assert.deepEqual(opened, []);
  assert.deepEqual(
    removed.map(({ path: where, change, before }) => [where, change, before.bytes]),
    [["/session/shut/file.txt", "deleted", 5]],
  );
});

test("very many changes do not hold the event loop, and all are told", { timeout: 120_000 }, async (t) => {
  const count = 20_000;
  const h = await withHost(t, { trace: false, durability: "none" });
  const turn = await begin(t, h.main);
  let round = 0;
  await staysResponsive(async () => {
    round += 1;
    const script = `mkdir r${round}; cd r${round}; seq ${count} | xargs touch`;
    const { changes } = await turn.track(() => shell(script, { cwd: h.roots.session }));
    assert.equal(changes.length, count);
  });
  await turn.finish();
});
