// Large results: when they go to a file, where it is, what stands in their place, and what is left alone. See DESIGN section 5.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { harnessToolContext, isToolResultFile } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { rootsSnapshot, sha256 } from "./support/tree.mjs";
import { begin, bytesOf, call, modelBytes, offloaded, toolOf } from "./support/turns.mjs";

const LIMIT = 16_384;
const filesUnder = (folder) =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
    : [];

test("the limit is exact: what fits is the same object, one byte more is a file", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const values = {
    text: (size) => "é".repeat(size / 2 - 1) + "x".repeat(2 + (size % 2)),
    object: (size) => ({ a: "x".repeat(size - 8) }),
    array: (size) => ["x".repeat(size - 4)],
  };
  for (const [name, make] of Object.entries(values)) {
    const [fits, over] = [make(LIMIT), make(LIMIT + 1)];
    assert.equal(modelBytes(fits), LIMIT, name);
    assert.equal(await toolOf(turn, () => fits)(), fits, name);
    const { stored } = await offloaded(turn, h.main, over, { id: name });
    assert.equal(stored.toString(), name === "text" ? over : JSON.stringify(over, null, 2));
  }
  assert.equal(filesUnder(h.roots.artifacts).length, 3);
});

test("the reference says what the file holds", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const { output } = await offloaded(turn, h.main, `start\n${"x".repeat(20_000)}`, {
    wrap: { offload: { previewBytes: 12 } },
    id: "c",
  });
  assert.deepEqual(output, {
    type: "harness.tool_result_file",
    toolName: "query",
    toolCallId: "c",
    path: "/artifacts/tool-results/query/c.txt",
    bytes: 20_006,
    sha256: sha256(`start\n${"x".repeat(20_000)}`),
    mediaType: "text/plain",
    truncated: true,
    summary: { format: "text", characters: 20_006, lines: 2 },
    preview: "start\nxxxxxx",
    message: output.message,
  });
  assert.match(output.message, /exceeded 16384 bytes and was written to \/artifacts\/tool-results\/query\/c\.txt/);
  assert.equal((await h.main.files.stat(output.path)).artifact.path, output.path);
  const types = h.events.filter((event) => event.metadata.path === output.path).map((event) => event.type);
  assert.deepEqual(types.slice(0, 2), ["harness.file.created", "harness.file.written_by_tool"]);
  assert.deepEqual((await turn.finish()).files.written, [output.path]);
});

const rows = Array.from({ length: 3000 }, (_, id) => (id === 1 ? { id, tag: null } : { id, name: `n${id}`, tag: "t" }));
const formats = {
  "JSON, as an array": { value: rows, format: "json", extension: "json", type: "array", length: 3000 },
  "JSON found in a string": { value: JSON.stringify({ rows }), format: "json", extension: "txt", type: "object" },
  "NDJSON found in a string": {
    value: rows.map((row) => JSON.stringify(row)).join("\n"),
    format: "ndjson",
    extension: "txt",
  },
  "text that begins like JSON": { value: `{${"not JSON ".repeat(3000)}`, format: "text", extension: "txt" },
};
for (const [name, { value, format, extension, type, length }] of Object.entries(formats)) {
  test(`format: ${name}`, async (t) => {
    const h = await withHost(t);
    const turn = await begin(t, h.main);
    const { output } = await offloaded(turn, h.main, value);
    assert.equal(output.summary.format, format);
    assert.match(output.path, new RegExp(`\\.${extension}$`));
    assert.equal(
      output.summary.structure?.type,
      format === "text" ? undefined : (type ?? output.summary.structure?.type),
    );
    if (length !== undefined) assert.equal(output.summary.structure.length, length);
    if (type === "array") {
      assert.deepEqual(output.summary.structure.items, {
        type: "object",
        keys: {
          id: { type: "number" },
          name: { type: "string", optional: true },
          tag: { type: "union", variants: [{ type: "string" }, { type: "null" }] },
        },
      });
    }
  });
}

test("a repeated id never replaces other content, and the same content gives the same reference", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const first = await offloaded(turn, h.main, "a".repeat(20_000));
  const second = await offloaded(turn, h.main, "b".repeat(20_000));
  assert.notEqual(second.output.path, first.output.path);
  assert.equal((await bytesOf(h.main, first.output.path)).toString(), "a".repeat(20_000));
  assert.deepEqual((await offloaded(turn, h.main, "a".repeat(20_000))).output, first.output);
  assert.deepEqual((await offloaded(turn, h.main, "b".repeat(20_000))).output, second.output);
  assert.equal(filesUnder(h.roots.artifacts).length, 2);
});

test("a turn budget over parallel results: those that would go over it go to files", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const sizes = [38_000, 155_000, 136_000];
  const offload = { maxInlineBytes: 200_000, turnBudgetBytes: 200_000 };
  const tools = turn.tools(
    Object.fromEntries(sizes.map((size) => [`t${size}`, { execute: async () => "x".repeat(size) }])),
    { offload },
  );
  const outputs = await Promise.all(sizes.map((size) => tools[`t${size}`].execute({}, call(`c${size}`))));
  assert.deepEqual(outputs.map(isToolResultFile), [false, false, true]);
  const run = async (value, name) => toolOf(turn, () => value, { wrap: { offload }, name })();
  const small = { rows: Array(2000).fill(1) };
  assert.equal(await run(small, "small"), small, "there is room for it");
  assert.ok(isToolResultFile(await run("z".repeat(9000), "z")), "there is not, and it is under maxInlineBytes");
  const least = "w".repeat(1024);
  for (let round = 0; round < 5; round++)
    assert.equal(await run(least, "least"), least, "a reference might take as much");
  const medium = await run("v".repeat(1100), "medium");
  assert.ok(isToolResultFile(medium) && modelBytes(medium) < 1100, "never longer than what it stands for");
  await turn.finish();
  const next = await begin(t, h.main);
  assert.equal(await toolOf(next, () => "x".repeat(155_000), { wrap: { offload } })(), "x".repeat(155_000));
});

test("what is left alone: offload: false of the tool, of the call, of the host; `only`; tools with a form of their own", async (t) => {
  const long = "x".repeat(20_000);
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const before = rootsSnapshot(h.roots);
  const inline = async (promise) => assert.equal(await promise, long);
  await inline(toolOf(turn, () => long, { offload: false })());
  await inline(toolOf(turn, () => long, { wrap: { offload: false } })());
  await inline(toolOf(turn, () => long, { toModelOutput: () => ({ type: "text", value: "" }) })());
  await inline(toolOf(turn, () => long, { outputSchema: {} })());
  const asked = [];
  await inline(
    toolOf(turn, () => long, {
      wrap: {
        offload: {
          only: (tool, result) => {
            asked.push([tool, result]);
            return false;
          },
        },
      },
    })({ a: 1 }),
  );
  assert.deepEqual(asked, [[{ toolName: "query", toolCallId: "call-1", input: { a: 1 } }, long]]);
  assert.deepEqual(rootsSnapshot(h.roots), before, "nothing was written");
  await h.close();

  const off = await withHost(t, { offload: false });
  const other = await begin(t, off.main);
  await inline(toolOf(other, () => long)());
  assert.ok(
    isToolResultFile(await toolOf(other, () => long, { wrap: { offload: { previewBytes: 0 } } })()),
    "the call's options over the host's",
  );
});

test("the call's options are over the host's, field by field", async (t) => {
  const h = await withHost(t, {
    offload: { maxInlineBytes: 1024, outputDir: "/session//results/./", previewBytes: 5 },
  });
  const turn = await begin(t, h.main);
  const { output } = await offloaded(turn, h.main, "x".repeat(3000), { wrap: { offload: { previewBytes: 7 } } });
  assert.equal(output.path, "/session/results/query/call-1.txt");
  assert.equal(output.preview, "xxxxxxx");
  const value = "x".repeat(3000);
  assert.equal(await toolOf(turn, () => value, { wrap: { offload: { maxInlineBytes: 4000 } } })(), value);
});

test("a tool that passes a reference on, and one that reads a stored result with offload: false", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const { output } = await offloaded(turn, h.main, rows);
  assert.equal(await toolOf(turn, () => output)(), output);
  const read = toolOf(turn, async (_, options) => (await harnessToolContext(options).files.read(output.path)).text(), {
    offload: false,
  });
  assert.equal(await read(), JSON.stringify(rows, null, 2));
  assert.deepEqual((await turn.finish()).files.read, [output.path]);
});
