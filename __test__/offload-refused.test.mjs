// Offload that cannot be: options that make no sense, files that cannot be written, calls that are aborted; and the functions.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { offloadInstructions, offloadToolResult } from "@little-stack/files";
import { rejectsWith, withHost } from "./support/host.mjs";
import { rootsSnapshot } from "./support/tree.mjs";
import { assertWellFormed, begin, call, modelBytes, toolOf } from "./support/turns.mjs";

const LIMIT = 16_384;

const rows = Array.from({ length: 3000 }, (_, id) => (id === 1 ? { id, tag: null } : { id, name: `n${id}`, tag: "t" }));

const nested = (levels) => {
  let value = [];
  for (let at = 1; at < levels; at++) value = [value];
  return value;
};

const wrong = {
  maxInlineBytes: [1023, 0, -1, 1024.5, "2000", NaN, Infinity, null],
  previewBytes: [-1, 1.5, "1", null],
  outputDir: [
    "",
    "/",
    "artifacts/x",
    "/persistent/x",
    "/artifactsx",
    "/artifacts/../session",
    "/artifacts/a\\b",
    "/artifacts/a\0",
    `/artifacts/${"é".repeat(96)}`,
    5,
    null,
  ],
  onOffloadError: ["ignore", 1],
  only: ["query", {}],
  turnBudgetBytes: [-1, 0.5, "1"],
};
test("options that make no sense are refused, by the host, by turn.tools and by the functions, and change nothing", async (t) => {
  const h = await withHost(t);
  const raw = await h.host.sessions.getOrCreate({ id: "test" });
  const turn = await begin(t, h.main);
  const before = rootsSnapshot(h.roots);
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const options = { [name]: value };
      const refused = { code: "FS_INVALID_OPTION", message: new RegExp(name) };
      await assert.rejects(withHost(t, { offload: options }), refused, `${name}: ${value}`);
      assert.throws(() => turn.tools({}, { offload: options }), refused);
      assert.throws(() => offloadInstructions(options), refused);
      await rejectsWith(
        offloadToolResult(raw.files, { toolName: "t", input: 1 }, "x".repeat(20_000), options),
        "FS_INVALID_OPTION",
      );
    }
  }
  for (const offload of [true, 1, "no", []])
    assert.throws(() => turn.tools({}, { offload }), { code: "FS_INVALID_OPTION" });
  assert.deepEqual(rootsSnapshot(h.roots), before);
});

test("when the file cannot be written the call fails, or the model gets a bounded beginning and the host an event", async (t) => {
  const h = await withHost(t, { quota: { sessionBytes: 10_000 } });
  const turn = await begin(t, h.main);
  const before = rootsSnapshot(h.roots);
  await rejectsWith(toolOf(turn, () => "x".repeat(20_000))(), "FS_QUOTA_EXCEEDED");
  const values = [
    "x".repeat(20_000),
    "🟡".repeat(20_000),
    '"'.repeat(20_000),
    rows,
    Buffer.alloc(20_000, 200),
    { bad: nested(5000) },
  ];
  for (const maxInlineBytes of [1024, LIMIT]) {
    for (const value of values) {
      h.events.length = 0;
      const output = await toolOf(turn, () => value, {
        wrap: { offload: { onOffloadError: "inline", maxInlineBytes } },
      })();
      assert.ok(modelBytes(output) <= maxInlineBytes, `${modelBytes(output)}`);
      assertWellFormed(output);
      assert.deepEqual(Object.keys(output), ["truncated", "preview", "message"]);
      assert.match(output.message, /FS_QUOTA_EXCEEDED/);
      if (!Buffer.isBuffer(value)) assert.ok(modelBytes(output) > maxInlineBytes * 0.6, "as much as may be shown");
      const refused = h.events.filter((event) => event.type === "harness.file.refused");
      assert.deepEqual(
        refused.map(({ metadata, turnId }) => [metadata.operation, metadata.code, turnId]),
        [["offload", "FS_QUOTA_EXCEEDED", turn.id]],
      );
    }
  }
  assert.deepEqual(rootsSnapshot(h.roots), before, "nothing was written");
  assert.deepEqual((await turn.finish()).files.written, []);
});

test("a failure that is no refusal is an event as well when the result goes inline", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  fs.writeFileSync(path.join(h.roots.artifacts, "tool-results"), "a file in the way");
  await assert.rejects(toolOf(turn, () => "x".repeat(20_000))(), { code: "FS_NOT_DIRECTORY" });
  h.events.length = 0;
  const output = await toolOf(turn, () => "x".repeat(20_000), { wrap: { offload: { onOffloadError: "inline" } } })();
  assert.match(output.message, /FS_NOT_DIRECTORY/);
  assert.deepEqual(
    h.events.map((event) => [event.type, event.metadata.operation]),
    [["harness.file.refused", "offload"]],
  );
});

test("offloadToolResult: the same outside of a tool call", async (t) => {
  const h = await withHost(t, { offload: { maxInlineBytes: 2000 } });
  const raw = await h.host.sessions.getOrCreate({ id: "test" });
  const made = { toolName: "shell", toolCallId: "c1", input: {} };
  assert.equal(await offloadToolResult(raw.files, made, "x".repeat(2000)), undefined);
  assert.equal(await offloadToolResult(raw.files, made, undefined), undefined);
  const reference = await offloadToolResult(raw.files, made, "x".repeat(2001));
  assert.equal(reference.path, "/artifacts/tool-results/shell/c1.txt");
  assert.ok(modelBytes(reference) <= 2000);
  assert.equal(await offloadToolResult(raw.files, made, "x".repeat(2001), { maxInlineBytes: 3000 }), undefined);
  const turn = await begin(t, raw);
  assert.deepEqual(await offloadToolResult(turn.files, made, "x".repeat(2001)), reference);
  assert.deepEqual((await turn.finish()).files.written, []);
  await rejectsWith(offloadToolResult(turn.files, made, "x".repeat(2001)), "FS_CLOSED");
  await rejectsWith(offloadToolResult({ ...raw.files }, made, "x".repeat(2001)), "FS_INVALID_OPTION", {
    message: /FileWriter/,
  });
  for (const wrongCall of [null, {}, { toolName: 1 }, { toolName: "t", toolCallId: 1 }]) {
    await rejectsWith(offloadToolResult(raw.files, wrongCall, "x"), "FS_INVALID_OPTION");
  }
});

test("offloadInstructions tell the limits in force, and a tool only when it is named", async () => {
  const text = offloadInstructions();
  for (const said of ["16,384 bytes", "/artifacts/tool-results", "harness.tool_result_file", "512 bytes"])
    assert.ok(text.includes(said), said);
  assert.doesNotMatch(text, /`read`/);
  const mine = offloadInstructions({ maxInlineBytes: 2048, outputDir: "/session/out", readTool: "read_file" });
  for (const said of ["2,048 bytes", "/session/out", "`read_file`"]) assert.ok(mine.includes(said), said);
  assert.throws(() => offloadInstructions({ readTool: "" }), { code: "FS_INVALID_OPTION" });
});

test("an aborted call writes nothing, also with onOffloadError inline", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const before = rootsSnapshot(h.roots);
  const reason = new Error("stop");
  const run = toolOf(turn, () => "x".repeat(20_000), { wrap: { offload: { onOffloadError: "inline" } } });
  const error = await rejectsWith(run({}, { ...call("c"), abortSignal: AbortSignal.abort(reason) }), "FS_ABORTED");
  assert.equal(error.cause, reason);
  assert.deepEqual(rootsSnapshot(h.roots), before);
});
