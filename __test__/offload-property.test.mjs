// Promise G5, for any value and any limit: what the model gets is bounded and well-formed, and nothing of the value is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isToolResultFile } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { assertWellFormed, begin, bytesOf, modelBytes, toolOf } from "./support/turns.mjs";

const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.LF_RUNS ?? 150);
const check = (property) => fc.assert(property, { seed, numRuns: runs, endOnFailure: false });

const limit = fc.oneof(fc.constant(1024), fc.integer({ min: 1024, max: 5000 }), fc.constant(16_384));
/** Text with every kind of line end, pairs and halves of pairs, escapes, repeated until it matters. */
const piece = fc.constantFrom(
  "a",
  "é",
  "€",
  "🟡",
  "\ud83d",
  "\udfe1",
  '"',
  "\\",
  "\n",
  "\r",
  "\r\n",
  "\u0000",
  "\u2028",
  "word ",
  "{",
  "[1,",
  "null",
);
const repeated = (max) =>
  fc
    .tuple(
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("")),
      fc.integer({ min: 1, max }),
    )
    .map(([unit, times]) => unit.repeat(times));
const text = repeated(3000);
const key = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "toJSON", "constructor", "k".repeat(3000)) },
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, depthSize: "small" },
    fc.oneof(repeated(10), fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("json"), { maxLength: 12 }),
    fc.dictionary(key, tie("json"), { maxKeys: 14 }).map((object) => Object.assign({}, object)),
  ),
}));
/** Many rows of the same kind, as results are. */
const rows = fc
  .tuple(json, fc.integer({ min: 1, max: 200 }))
  .map(([row, times]) => Array.from({ length: times }, () => row));
const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 200 }))
  .map(([unit, times]) => Buffer.concat(Array(times).fill(unit)));

const written = (value) =>
  typeof value === "string" ? value.toWellFormed() : (JSON.stringify(value, null, 2) ?? "null").toWellFormed();

test(`any JSON value or text, any limit (LF_SEED=${seed})`, { timeout: 120_000 }, async (t) => {
  const h = await withHost(t, { trace: false });
  const turn = await begin(t, h.main);
  let [offloaded, call] = [0, 0];
  await check(
    fc.asyncProperty(
      fc.oneof(text, json, rows),
      limit,
      fc.integer({ min: 0, max: 4000 }),
      async (value, maxInlineBytes, previewBytes) => {
        const run = toolOf(turn, () => value, { wrap: { offload: { maxInlineBytes, previewBytes } } });
        const id = `call-${(call += 1)}`;
        const output = await run({}, { toolCallId: id });
        assert.ok(modelBytes(output) <= maxInlineBytes, `${modelBytes(output)} of ${maxInlineBytes}`);
        if (modelBytes(value) <= maxInlineBytes) return assert.equal(output, value, "the same object");
        offloaded += 1;
        assert.ok(isToolResultFile(output));
        assertWellFormed(output);
        const stored = await bytesOf(h.main, output.path);
        assert.equal(stored.toString(), written(value), "the whole value");
        assert.equal(stored.length, output.bytes);
        assert.ok(Buffer.byteLength(output.preview) <= previewBytes && stored.toString().startsWith(output.preview));
        assert.deepEqual(await run({}, { toolCallId: id }), output, "the same value, the same reference");
        return undefined;
      },
    ),
  );
  assert.ok(offloaded > runs / 10, `${offloaded} of ${runs} were offloaded`);
  t.diagnostic(`${offloaded} of ${runs} offloaded`);
});

test(`any bytes, any limit (LF_SEED=${seed})`, { timeout: 60_000 }, async (t) => {
  const h = await withHost(t, { trace: false });
  const turn = await begin(t, h.main);
  let call = 0;
  await check(
    fc.asyncProperty(
      bytes,
      limit,
      fc.constantFrom("Buffer", "Uint8Array", "ArrayBuffer", "DataView", "Uint16Array"),
      async (content, maxInlineBytes, kind) => {
        const value = kind === "Buffer" ? content : as[kind](content);
        const output = await toolOf(turn, () => value, { wrap: { offload: { maxInlineBytes } } })(
          {},
          { toolCallId: `call-${(call += 1)}` },
        );
        assert.ok(modelBytes(output) <= maxInlineBytes);
        if (!isToolResultFile(output)) return assert.equal(output, value, "the same object");
        const { format, characters, lines } = output.summary;
        assert.deepEqual([format, characters, lines, output.preview], ["binary", undefined, undefined, ""]);
        assert.match(output.path, /\.bin$/);
        assert.ok(
          (await bytesOf(h.main, output.path)).equals(kind === "Uint16Array" ? Buffer.from(value.buffer) : content),
        );
        return undefined;
      },
    ),
  );
});

const copy = (content) => Uint8Array.from(content).buffer;
const as = {
  Uint8Array: (content) => new Uint8Array(copy(content)),
  ArrayBuffer: copy,
  DataView: (content) => new DataView(copy(content)),
  Uint16Array: (content) => new Uint16Array(copy(content.subarray(0, content.length - (content.length % 2)))),
};

/** What the counts are to be, in plain words: decoded, code points; a line ends at CRLF, LF or CR, and needs no such end. */
function counted(content) {
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
  const lines = decoded.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return { characters: [...decoded].length, lines: lines.length };
}

test(`counts agree with a plain implementation (LF_SEED=${seed})`, { timeout: 60_000 }, async (t) => {
  const h = await withHost(t, { trace: false });
  const turn = await begin(t, h.main);
  let call = 0;
  await check(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 30 }),
      async (pieces, times) => {
        const value = `${pieces.join("").repeat(times)}${"x".repeat(1025)}${pieces.join("")}`;
        const output = await toolOf(turn, () => value, { wrap: { offload: { maxInlineBytes: 1024 } } })(
          {},
          { toolCallId: `call-${(call += 1)}` },
        );
        const { characters, lines } = output.summary;
        assert.deepEqual({ characters, lines }, counted(Buffer.from(value)));
      },
    ),
  );
});

test(
  `whatever is in it, the model gets a bounded value and the run goes on (LF_SEED=${seed})`,
  { timeout: 60_000 },
  async (t) => {
    const h = await withHost(t, { trace: false });
    const turn = await begin(t, h.main);
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withObjectString: true,
      maxDepth: 4,
    });
    const odd = fc
      .tuple(anything, fc.integer({ min: 1, max: 60 }))
      .map(([value, times]) => (times < 30 ? value : Array(times).fill(value)));
    let call = 0;
    await check(
      fc.asyncProperty(odd, limit, async (value, maxInlineBytes) => {
        const output = await toolOf(turn, () => value, { wrap: { offload: { maxInlineBytes } } })(
          {},
          { toolCallId: `call-${(call += 1)}` },
        );
        assert.ok(modelBytes(output) <= maxInlineBytes);
        if (!(value instanceof Uint8Array)) structuredClone(output);
      }),
    );
  },
);
