// Large results: when they go to a file, where it is, what stands in their place, and what is left alone. See DESIGN section 5.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { harnessToolContext, isToolResultFile, offloadInstructions, offloadToolResult } from "@little-stack/files";
import { rejectsWith, withHost } from "./support/host.mjs";
import { rootsSnapshot, sha256 } from "./support/tree.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { assertWellFormed, begin, bytesOf, modelBytes, toolOf } from "./support/turns.mjs";

const LIMIT = 16_384;
const call = (toolCallId) => ({ toolCallId, messages: [] });
const filesUnder = (folder) =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
    : [];

async function offloaded(turn, session, value, { id = "call-1", ...more } = {}) {
  const output = await toolOf(turn, () => value, more)({}, call(id));
  assert.ok(isToolResultFile(output), `stayed inline: ${JSON.stringify(output).slice(0, 200)}`);
  assert.ok(modelBytes(output) <= (more.wrap?.offload?.maxInlineBytes ?? LIMIT), `${modelBytes(output)} bytes`);
  assertWellFormed(output);
  const stored = await bytesOf(session, output.path);
  assert.equal(stored.length, output.bytes);
  assert.equal(sha256(stored), output.sha256);
  return { output, stored };
}

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

const wide = (depth) =>
  depth === 0
    ? "leaf"
    : Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`${"a long key ".repeat(2)}${depth}-${at}`, wide(depth - 1)]),
      );
const nested = (levels) => {
  let value = [];
  for (let at = 1; at < levels; at++) value = [value];
  return value;
};
/** Without recursion: JSON.stringify of deep ones fails. */
const textOf = (value) =>
  Array.isArray(value) ? "[".repeat(levels(value)) + "]".repeat(levels(value)) : JSON.stringify(value);
const levels = (value) => {
  let count = 0;
  for (let at = value; at !== undefined; at = at[0]) count++;
  return count;
};
const bare = (json) => json.replaceAll(/\s/g, "");
const worst = {
  "an object 12 keys wide and 4 deep with long keys": wide(4),
  "one key of 200,000 characters": { ["k".repeat(200_000)]: 1 },
  "5 MB of JSON on one line": JSON.stringify(
    Array.from({ length: 100_000 }, (_, id) => ({ id, text: "some text of a row here" })),
  ),
  "a string of quotes": '"'.repeat(20_000),
  "an emoji on every cut": "🟡".repeat(20_000),
  "an emoji on every other cut": `a${"🟡".repeat(20_000)}`,
  "lone halves of pairs": "\ud83d".repeat(20_000),
  "arrays nested 2,000 deep": nested(2000),
  "arrays nested 5,000 deep": nested(5000),
  "201 levels": nested(201),
};
for (const [name, value] of Object.entries(worst)) {
  test(`worst case: ${name}`, async (t) => {
    const h = await withHost(t);
    const turn = await begin(t, h.main);
    for (const maxInlineBytes of [1024, 1500, LIMIT]) {
      const { output, stored } = await offloaded(turn, h.main, value, {
        wrap: { offload: { maxInlineBytes, previewBytes: 700 } },
      });
      const [kept, whole] =
        typeof value === "string"
          ? [stored.toString(), value.toWellFormed()]
          : [bare(stored.toString()), bare(textOf(value))];
      assert.ok(kept === whole, "the whole value");
      assert.ok(Buffer.byteLength(output.preview) <= 700);
    }
  });
}

test("200 levels stay inline, the same object", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const value = nested(200);
  assert.equal(await toolOf(turn, () => value)(), value);
});

test("a line ends at LF, CR or CRLF, and a last end adds none", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const filler = "x".repeat(2000);
  const cases = { "a\r\nb": 2, "a\rb": 2, "a\nb\n": 2, "a\r\n": 1, "\n\n": 2, "\r\r\n\n": 3, "a\u2028b": 1 };
  for (const [start, lines] of Object.entries(cases)) {
    const text = start.endsWith("b") || start === "a\u2028b" ? filler + start : filler.concat(start);
    const { output } = await offloaded(turn, h.main, text, {
      wrap: { offload: { maxInlineBytes: 1024 } },
      id: JSON.stringify(start),
    });
    assert.equal(output.summary.lines, lines, JSON.stringify(start));
    assert.equal(output.summary.characters, [...text].length);
  }
});

const ids = {
  "a way out": "../../x",
  empty: "",
  "1,400 characters": `call_1__thought__${"A".repeat(1400)}`,
  "a device": "CON",
  "with a slash": "a/b",
  "like another": "a?b",
  "a lone half": "x\ud800",
  "two dots": "..",
  upper: "ABC",
  lower: "abc",
  unicode: "ü🟡",
  hidden: ".x",
  nul: "a\0b",
};
test("hostile tool call ids: each its own file, all below outputDir, with portable names", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const paths = new Map();
  for (const [name, id] of Object.entries(ids)) {
    for (const tool of ["query", "CON", "../up"]) {
      const { output, stored } = await offloaded(turn, h.main, `${name} of ${tool} ${"x".repeat(2000)}`, {
        name: tool,
        id,
        wrap: { offload: { maxInlineBytes: 1024 } },
      });
      assert.match(output.path, /^\/artifacts\/tool-results\/[^/]+\/[^/]+\.txt$/);
      for (const segment of output.path.split("/").slice(3)) {
        assert.match(segment, /^[A-Za-z0-9_~][A-Za-z0-9._~-]*$/, segment);
        assert.doesNotMatch(segment, /^(con|nul|aux|prn|com\d|lpt\d)(\.|$)|\.$/i);
        assert.ok(Buffer.byteLength(segment) <= 255);
      }
      assert.ok(!paths.has(output.path), `${output.path} stands for ${paths.get(output.path)} too`);
      paths.set(output.path, `${name} of ${tool}`);
      assert.ok(stored.toString().startsWith(`${name} of ${tool}`));
    }
  }
  assert.deepEqual(fs.readdirSync(h.roots.session), []);
});

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

test("50 MB of text and of JSON leave the event loop alone", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t, { trace: false });
  const turn = await begin(t, h.main);
  const text = `${"some text in a line\n".repeat(50 * 52_428)}`;
  const many = Array.from({ length: 300_000 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b"] }));
  for (const [name, value] of Object.entries({ text, many })) {
    let round = 0;
    await staysResponsive(async () => {
      const output = await toolOf(turn, () => value, { name })({}, call(`c${(round += 1)}`));
      assert.ok(isToolResultFile(output) && output.bytes > 20e6);
    }, 25);
  }
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
