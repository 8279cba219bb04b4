// Of two who change the same version of a file, one wins and the other is told; in one process and in two.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionFileSystem } from "@little-stack/files/tools";
import { withHost } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";
import { withTools } from "./support/file-tools.mjs";

const ROUNDS = 6;
const loserOf = { create: "FS_NOT_OBSERVED", replace: "FS_STALE_VERSION", edit: "FS_STALE_VERSION" };

for (const [way, loser] of Object.entries(loserOf)) {
  test(`two processes ${way} at once: one winner, and ${loser}`, { timeout: 120_000 }, async (t) => {
    const h = await withHost(t);
    for (let round = 0; round < ROUNDS; round++) {
      await h.files.writeText("/session/old.txt", "old");
      await h.files.remove("/session/new.txt", { force: true });
      const children = ["one", "two"].map((name) => startChild(t, "tool-race", [h.dataDir, way, name]));
      await Promise.all(children.map((child) => child.line("ready")));
      for (const child of children) child.send("go");
      const codes = (await Promise.all(children.map((child) => child.ended))).map((end) => lastJson(end).code);
      assert.deepEqual(codes.toSorted(), ["done", loser].toSorted());
      const winner = codes.indexOf("done") === 0 ? "one" : "two";
      const text = (await h.files.read(way === "create" ? "/session/new.txt" : "/session/old.txt")).text();
      assert.equal(text, winner);
    }
  });
}

test("two processes edit a file again and again: no edit is lost", { timeout: 120_000 }, async (t) => {
  const h = await withHost(t);
  await h.files.writeText("/session/old.txt", "start\n");
  const children = ["one", "two"].map((name) => startChild(t, "tool-race", [h.dataDir, "append", name]));
  await Promise.all(children.map((child) => child.line("ready")));
  for (const child of children) child.send("go");
  for (const child of children) assert.deepEqual(lastJson(await child.ended), { code: "done" });
  const lines = (await h.files.read("/session/old.txt")).text().trimEnd().split("\n");
  for (const name of ["one", "two"]) {
    const mine = lines.filter((line) => line.startsWith(name));
    assert.deepEqual(
      mine,
      Array.from({ length: 20 }, (_, at) => `${name}${at}`),
    );
  }
  assert.equal(lines.length, 41);
});

test("parallel calls of one turn: of two edits of what was read once, one is stale; unguarded both are made", async (t) => {
  const { run, session } = await withTools(t);
  await session.files.writeText("/session/a.txt", "one two");
  await run("read", { file_path: "/session/a.txt" });
  const edits = ["one", "two"].map((old) =>
    run("edit", { file_path: "/session/a.txt", old_string: old, new_string: old.toUpperCase() }).then(
      () => "done",
      ({ code }) => code,
    ),
  );
  const codes = await Promise.all(edits);
  // The second one may have been asked for its version after the first one was done.
  assert.ok(codes.includes("done"), codes.join());
  assert.ok(
    codes.every((code) => code === "done" || code === "FS_STALE_VERSION"),
    codes.join(),
  );

  const files = sessionFileSystem(session);
  const target = await files.resolve("/session/b.txt");
  await files.writeText(target, Array.from({ length: 30 }, (_, at) => `<${at}>`).join(""));
  await Promise.all(
    Array.from({ length: 30 }, (_, at) => files.editText(target, [{ oldString: `<${at}>`, newString: `(${at})` }])),
  );
  assert.equal((await files.readText(target)).text, Array.from({ length: 30 }, (_, at) => `(${at})`).join(""));
});

test("twenty create the same file at once: one does", async (t) => {
  const { session } = await withTools(t);
  const files = sessionFileSystem(session);
  const target = await files.resolve("/session/new.txt");
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      files.writeText(target, String(at), { expected: { createIfAbsent: true } }).then(
        () => at,
        ({ code }) => code,
      ),
    ),
  );
  const winners = outcomes.filter((outcome) => typeof outcome === "number");
  assert.equal(winners.length, 1);
  assert.ok(outcomes.every((outcome) => typeof outcome === "number" || outcome === "FS_NOT_OBSERVED"));
  assert.equal((await files.readText(target)).text, String(winners[0]));
});
