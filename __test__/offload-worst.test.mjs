// Large results at their worst: deep, wide, of one line, with hostile names. See DESIGN section 5.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { isToolResultFile } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { begin, call, offloaded, toolOf } from "./support/turns.mjs";

const LIMIT = 16_384;

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
