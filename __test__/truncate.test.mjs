// Truncation: pi's results, at any size.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_LINES,
  formatSize,
  truncateHead,
  truncateLine,
  truncateTail,
} from "@little-stack/files/tools";
import { assertError } from "./support/host.mjs";

// A plain reference: the text as an array of lines, taken one by one.

const linesOf = (text) => {
  const lines = text === "" ? [] : text.split("\n");
  if (text.endsWith("\n")) lines.pop();
  return lines;
};
const bytesOf = (text) => Buffer.byteLength(text);

function reference(text, { maxLines = 2000, maxBytes = 51_200 }, fromEnd) {
  const lines = linesOf(text);
  const result = {
    content: text,
    truncated: false,
    truncatedBy: null,
    totalLines: lines.length,
    totalBytes: bytesOf(text),
    outputLines: lines.length,
    outputBytes: bytesOf(text),
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines,
    maxBytes,
  };
  if (lines.length <= maxLines && result.totalBytes <= maxBytes) return result;
  const kept = [];
  const cut = { ...result, truncated: true, truncatedBy: "lines" };
  if (!fromEnd && bytesOf(lines[0] ?? "") > maxBytes) {
    return { ...cut, content: "", truncatedBy: "bytes", outputLines: 0, outputBytes: 0, firstLineExceedsLimit: true };
  }
  for (const line of fromEnd ? lines.toReversed() : lines) {
    if (kept.length >= maxLines) break;
    if (bytesOf([...kept, line].join("\n")) > maxBytes) {
      cut.truncatedBy = "bytes";
      if (fromEnd && kept.length === 0) {
        const bytes = Buffer.from(line);
        let start = bytes.length - maxBytes;
        while (start < bytes.length && (bytes[start] & 0xc0) === 0x80) start++;
        kept.push(bytes.subarray(start).toString());
        cut.lastLinePartial = true;
      }
      break;
    }
    kept.push(line);
  }
  if (kept.length >= maxLines) cut.truncatedBy = "lines";
  cut.content = (fromEnd ? kept.toReversed() : kept).join("\n");
  return { ...cut, outputLines: kept.length, outputBytes: bytesOf(cut.content) };
}

const text = fc
  .array(fc.constantFrom("\n", "\n", "a", "bc", "\r\n", "é", "日本", "🟡", "\ud800", "\udc00", "long ".repeat(8)), {
    maxLength: 60,
  })
  .map((parts) => parts.join(""));
const upTo = (most) => fc.oneof({ weight: 9, arbitrary: fc.nat(most) }, fc.constant(Infinity));
const limits = fc.record({ maxLines: upTo(12), maxBytes: upTo(80) }, { requiredKeys: [] });

test("head and tail are what a plain reference gives", () => {
  fc.assert(
    fc.property(text, limits, (given, options) => {
      assert.deepEqual(truncateHead(given, options), reference(given, options, false));
      assert.deepEqual(truncateTail(given, options), reference(given, options, true));
    }),
    { numRuns: 3000 },
  );
});

test("what was whole characters stays whole, and within the limits", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), limits, (given, options) => {
      for (const { content, maxBytes, outputLines, maxLines } of [
        truncateHead(given, options),
        truncateTail(given, options),
      ]) {
        assert.ok(content.isWellFormed() || !given.isWellFormed());
        assert.ok(bytesOf(content) <= maxBytes);
        assert.ok(outputLines <= maxLines);
      }
    }),
    { numRuns: 1000 },
  );
});

const table = [
  ["nothing", "", {}, { totalLines: 0, truncated: false }],
  ["a final line end adds no line", "a\nb\n", { maxLines: 2 }, { totalLines: 2, truncated: false, content: "a\nb\n" }],
  [
    "only the final line end is over the limit",
    "abc\n",
    { maxBytes: 3 },
    { content: "abc", truncatedBy: "lines", outputLines: 1 },
  ],
  ["a CR belongs to its line", "a\r\nb", { maxLines: 1 }, { content: "a\r", outputBytes: 2 }],
];
for (const [name, given, options, expected] of table) {
  test(`head: ${name}`, () => {
    const result = truncateHead(given, options);
    assert.deepEqual({ ...result, ...expected }, result);
  });
}

test("the defaults are pi's", () => {
  assert.deepEqual([DEFAULT_MAX_LINES, DEFAULT_MAX_BYTES], [2000, 51_200]);
  const { maxLines, maxBytes } = truncateTail("a");
  assert.deepEqual([maxLines, maxBytes], [2000, 51_200]);
});

test("lines are cut on a whole character, with a mark", () => {
  assert.equal(truncateLine("x".repeat(500)), "x".repeat(500));
  assert.equal(truncateLine("x".repeat(501)), `${"x".repeat(500)}... [truncated]`);
  assert.equal(truncateLine("ab🟡cd", 3), "ab... [truncated]");
  assert.equal(truncateLine("ab🟡cd", 4), "ab🟡... [truncated]");
  assert.equal(truncateLine("", 0), "");
});

test("sizes", () => {
  const sizes = {
    0: "0B",
    1023: "1023B",
    1024: "1.0KB",
    51_200: "50.0KB",
    1_048_575: "1024.0KB",
    1_048_576: "1.0MB",
    5e9: "4768.4MB",
  };
  for (const [bytes, said] of Object.entries(sizes)) assert.equal(formatSize(Number(bytes)), said);
});

test("100 MB are truncated without splitting them", () => {
  const line = `${"x".repeat(79)}\n`;
  const big = line.repeat(Math.ceil(100e6 / line.length));
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  const { totalLines, outputLines } = truncateTail(big);
  const head = truncateHead(big);
  const time = performance.now() - start;
  assert.equal(totalLines, big.length / line.length);
  assert.deepEqual([outputLines, head.outputLines], [640, 640]);
  assert.ok(time < 3000, `${time} ms`);
  assert.ok(process.memoryUsage().heapUsed - before < 300e6);
  const one = "é".repeat(30e6);
  assert.equal(truncateTail(one).outputBytes, 51_200);
  assert.equal(truncateHead(one).firstLineExceedsLimit, true);
});

test("what is no text, or no limit, is refused", () => {
  for (const [call, message] of [
    [() => truncateHead(5), /text must be a string/],
    [() => truncateTail("a", { maxLines: -1 }), /maxLines/],
    [() => truncateHead("a", { maxBytes: 1.5 }), /maxBytes/],
    [() => truncateLine("a", -1), /maxCharacters/],
    [() => formatSize("1"), /bytes/],
  ]) {
    assert.throws(call, (error) => {
      assertError(error, "FS_INVALID_OPTION", { message });
      return true;
    });
  }
});
