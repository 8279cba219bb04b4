// Windows: what `read` shows, how it says to go on, and that it never shows more than it may.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { pages, parted, refused, withTools } from "./support/file-tools.mjs";

const FILE = "/session/a.txt";
const lines = (count, text = (at) => `line ${at}`) => Array.from({ length: count }, (_, at) => text(at + 1));

async function reading(t, content, options) {
  const h = await withTools(t, options);
  const disk = path.join(h.roots.session, "a.txt");
  fs.writeFileSync(disk, content);
  return { ...h, disk, read: (input) => h.run("read", { file_path: FILE, ...input }) };
}

const shown = [
  ["all of it", "a\nb\n", {}, "a\nb\n\nLines 1-2 of 2; end of file"],
  ["no final newline", "a\nb", {}, "a\nb\n\nLines 1-2 of 2; end of file"],
  ["one line", "a\nb\nc", { offset: 2, limit: 1 }, "b\n\nLines 2-2 of 3; continue with offset: 3"],
  ["the last one", "a\nb\nc", { offset: 3 }, "c\n\nLines 3-3 of 3; end of file"],
  ["nothing", "", {}, "The file is empty."],
  ["an empty line", "\n", {}, "\n\nLines 1-1 of 1; end of file"],
  ["a BOM is not shown", "\ufeffa\n", {}, "a\n\nLines 1-1 of 1; end of file"],
  ["CRLF", "a\r\nb\r\n", {}, "a\nb\n\nLines 1-2 of 2; end of file; line ends: CRLF"],
  ["CR", "a\rb", {}, "a\nb\n\nLines 1-2 of 2; end of file; line ends: CR"],
  ["mixed line ends", "a\r\nb\nc", {}, "a\nb\nc\n\nLines 1-3 of 3; end of file; line ends: mixed"],
  ["bytes", "abcdef", { byte_offset: 2, byte_limit: 4 }, "cdef\n\nBytes 2-5 of 6; end of file"],
  [
    "bytes, and more",
    "abcdefgh",
    { byte_offset: 0, byte_limit: 4 },
    "abcd\n\nBytes 0-3 of 8; continue with byte_offset: 4",
  ],
  ["bytes from inside a character", "aé日b", { byte_offset: 4, byte_limit: 4 }, "日b\n\nBytes 3-6 of 7; end of file"],
  ["bytes past the end", "abc", { byte_offset: 9 }, "No bytes from 9 on; the file has 3."],
];
for (const [name, content, input, expected] of shown) {
  test(`shown: ${name}`, async (t) => {
    const { read } = await reading(t, content);
    assert.equal(await read(input), expected);
  });
}

test("2,000 lines at a time, counted to the end", async (t) => {
  const { read } = await reading(t, lines(5001).join("\n"));
  const first = parted(await read({}));
  assert.equal(first.status, "Lines 1-2000 of 5001; continue with offset: 2001");
  assert.equal(first.text, lines(2000).join("\n"));
  assert.equal(parted(await read({ offset: 4001 })).status, "Lines 4001-5001 of 5001; end of file");
  await refused(
    read({ offset: 5002 }),
    "FS_NOT_FOUND",
    /past the end of \/session\/a\.txt.*\(ENOENT\).*offset of 1 to 5001/,
  );
});

test("50 KiB at a time, in whole lines, counted to the end", async (t) => {
  const { read } = await reading(t, lines(1000, () => "x".repeat(199)).join("\n"));
  const result = await read({});
  assert.ok(Buffer.byteLength(result) <= 51_200, `${Buffer.byteLength(result)}`);
  const { text, status } = parted(result);
  const last = text.split("\n").length;
  assert.ok(last > 240 && last < 256, `${last} lines`);
  assert.equal(status, `Lines 1-${last} of 1000; continue with offset: ${last + 1}`);
});

test("long lines are cut on a whole character, and say where they go on", async (t) => {
  const long = `${"🟡".repeat(3000)}`;
  const { read } = await reading(t, `short\n${long}\nlast`);
  const { text, status } = parted(await read({}));
  const [one, two, three] = text.split("\n");
  assert.deepEqual([one, three], ["short", "last"]);
  assert.equal(two, "🟡".repeat(2000));
  assert.match(
    status,
    /^Lines 1-3 of 3; end of file\nLine 2 is cut, it has 3000 characters; go on in it with byte_offset: 8006$/,
  );
  const rest = parted(await read({ byte_offset: 8006, byte_limit: 4000 }));
  assert.equal(rest.text, "🟡".repeat(1000));
});

test("many cut lines are told as a number", async (t) => {
  const { read } = await reading(t, lines(20, () => "x".repeat(50)).join("\n"), { limits: { lineCharacters: 10 } });
  const { status } = parted(await read({}));
  assert.equal(status.split("\n").length, 5);
  assert.match(status, /17 more lines are cut$/);
});

test("one line of 5 MB is gone through in bounded windows, by bytes and by pointer", async (t) => {
  const rows = Array.from({ length: 50_000 }, (_, id) => ({
    id,
    name: `customer ${id} é`,
    tags: ["a", "b"],
    nested: { at: id },
  }));
  const json = JSON.stringify({ rows, total: rows.length });
  const { read, run } = await reading(t, json);
  const first = await read({});
  assert.ok(Buffer.byteLength(first) <= 51_200);
  assert.match(first, /Lines 1-1 of 1; end of file\nLine 1 is cut/);
  const found = await pages(run, { file_path: FILE, byte_offset: 0 }, "byte_offset");
  assert.equal(found.map(({ text }) => text).join(""), json);
  assert.ok(found.every(({ bytes }) => bytes <= 51_200));
  const items = await pages(run, { file_path: FILE, pointer: "/rows" }, "offset");
  assert.ok(items.every(({ bytes }) => bytes <= 51_200));
  const all = items.flatMap(({ text }) => text.split("\n"));
  assert.equal(all.length, rows.length);
  assert.deepEqual(JSON.parse(all[49_999].replace(/^49999: /, "")), rows[49_999]);
  assert.match(items[0].status, /^Items 0-\d+ of 50000 \(array\); continue with offset: \d+$/);
});

const json = {
  name: "é\n",
  empty: [],
  nothing: {},
  "a/b~c": [1, 2, 3],
  deep: { list: [{ x: 1 }, { x: 2 }] },
  n: 1.5e3,
  t: true,
  z: null,
  big: Array.from({ length: 9000 }, (_, at) => at),
};
const pointers = [
  ["a member that is text", "/name", {}, "é\n\n\nCharacters 0-1 of 2 (string); that is all"],
  ["a number", "/n", {}, "1.5e3"],
  ["true", "/t", {}, "true"],
  ["null", "/z", {}, "null"],
  ["an empty array", "/empty", {}, "The array is empty."],
  ["an empty object", "/nothing", {}, "The object is empty."],
  ["escapes in a pointer", "/a~1b~0c", {}, "0: 1\n1: 2\n2: 3\n\nItems 0-2 of 3 (array); that is all"],
  ["from an item on", "/a~1b~0c", { offset: 1, limit: 1 }, "1: 2\n\nItems 1-1 of 3 (array); continue with offset: 2"],
  ["an object", "/deep/list/1", {}, '"x": 2\n\nItems 0-0 of 1 (object); that is all'],
];
for (const [name, pointer, more, expected] of pointers) {
  test(`JSON: ${name}`, async (t) => {
    const { read } = await reading(t, JSON.stringify(json).replace("1500", "1.5e3"));
    assert.equal(await read({ pointer, ...more }), expected);
  });
}

test("JSON: the whole file, with what is too long as its size and pointer", async (t) => {
  const { read } = await reading(t, JSON.stringify({ big: "x".repeat(100_000), rows: json.big, small: 1 }), {
    limits: { bytes: 4096 },
  });
  const result = await read({ pointer: "" });
  assert.ok(Buffer.byteLength(result) <= 4096);
  assert.match(
    result,
    /^"big": \(string, 100002 bytes; read pointer: "\/big"\)\n"rows": \(array of 9000 items, \d+ bytes; read pointer: "\/rows"\)\n"small": 1\n\nItems 0-2 of 3 \(object\); that is all$/,
  );
  const text = parted(await read({ pointer: "/big", offset: 99_990 }));
  assert.deepEqual(text, { text: "x".repeat(10), status: "Characters 99990-99999 of 100000 (string); that is all" });
});

test("NDJSON: its values by number", async (t) => {
  const { read } = await reading(t, '{"a":1}\n{"a":[2,3]}\n');
  assert.equal(await read({ pointer: "" }), '0: {"a":1}\n1: {"a":[2,3]}\n\nItems 0-1 of 2 (ndjson); that is all');
  assert.equal(await read({ pointer: "/1/a/1" }), "3");
});

test("JSON: what a pointer cannot name is refused, coded", async (t) => {
  const { read, disk } = await reading(t, '{"a":{"b":[1]}}');
  await refused(read({ pointer: "a" }), "FS_INVALID_OPTION");
  await refused(
    read({ pointer: "/a/c" }),
    "FS_NOT_FOUND",
    /^\[FS_NOT_FOUND\] \/a\/c names nothing in .*\(ENOENT\).* the keys b\.$/,
  );
  await refused(read({ pointer: "/a/b/7" }), "FS_NOT_FOUND");
  await refused(read({ pointer: "/a/b", offset: 1 }), "FS_NOT_FOUND", /has 1/);
  fs.writeFileSync(disk, '{"a": 1, oops}');
  await refused(read({ pointer: "/a/b" }), "FS_NOT_TEXT");
});

test("a file that is not there, or is none, says what to do", async (t) => {
  const { run, session } = await withTools(t);
  await refused(run("read", { file_path: "/session/none" }), "FS_NOT_FOUND", /ENOENT.*Look with list or glob/);
  await session.files.writeText("/session/dir/a", "x");
  await refused(run("read", { file_path: "/session/dir" }), "FS_NOT_REGULAR_FILE", /list shows what is in a folder/);
  await refused(run("read", { file_path: "a.txt" }), "FS_INVALID_PATH", /absolute/);
  await refused(run("read", { file_path: "/etc/passwd" }), "FS_SANDBOX_DENIED", /managed root/);
  await refused(run("read", { file_path: "/session/../x" }), "FS_INVALID_PATH", /traversal/);
});

test("names of the tools are those that the model knows", async (t) => {
  const { run } = await withTools(t, { names: { read: "look", list: "ls", glob: "find" } });
  await refused(run("look", { file_path: "/session/none" }), "FS_NOT_FOUND", /Look with ls or find/);
  await refused(
    run("edit", { file_path: "/session/other", old_string: "a", new_string: "b" }),
    "FS_NOT_OBSERVED",
    /with look first/,
  );
});

const part = fc.constantFrom("a", "bc", "é", "日本", "🟡", "\n", "\n", "\r\n", " ", "x".repeat(40));
const content = fc.array(part, { minLength: 1, maxLength: 200 }).map((parts) => parts.join(""));

test("windows put together give the file, and none is over its cap", async (t) => {
  const limits = { lines: 7, lineCharacters: 1000, bytes: 1024 };
  const { run, disk } = await reading(t, "", { limits });
  await fc.assert(
    fc.asyncProperty(content, fc.integer({ min: 4, max: 64 }), async (written, size) => {
      fs.writeFileSync(disk, written);
      const bytes = await pages(run, { file_path: FILE, byte_offset: 0, byte_limit: size }, "byte_offset");
      assert.equal(bytes.map((page) => page.text).join(""), written);
      for (const page of bytes) assert.ok(page.text.isWellFormed() && Buffer.byteLength(page.text) <= size);
      const byLines = await pages(run, { file_path: FILE }, "offset");
      const wanted = written.replace(/\r\n/g, "\n").replace(/\n$/, "");
      assert.equal(byLines.map((page) => page.text).join("\n"), wanted);
      for (const page of byLines) {
        assert.ok(page.bytes <= limits.bytes && page.text.split("\n").length <= limits.lines);
        assert.match(page.status, new RegExp(`^Lines \\d+-\\d+ of ${wanted.split("\n").length};`));
      }
    }),
    { numRuns: 60 },
  );
});

/** JSON text of what the pointer names, read window by window, and by the pointers that the windows name. */
async function rebuilt(run, pointer, seen) {
  const found = await pages(run, { file_path: FILE, pointer }, "offset");
  for (const { bytes } of found) seen(bytes);
  const { status } = found.at(-1);
  if (/^The (array|object|string) is empty\.$/.test(status))
    return { array: "[]", object: "{}", string: '""' }[status.split(" ")[1]];
  const type = /\((array|object|string)\); that is all$/.exec(status)?.[1];
  if (type === undefined) return status; // a number, true, false or null
  if (type === "string") return JSON.stringify(found.map(({ text }) => text).join(""));
  const items = [];
  for (const line of found.flatMap(({ text }) => text.split("\n"))) {
    const [, key, value] = /^("(?:[^"\\]|\\.)*"|\d+): (.*)$/.exec(line);
    const longer = /^\(\w+(?: of \d+ items)?, \d+ bytes; read pointer: (".*")\)$/.exec(value);
    const whole = longer ? await rebuilt(run, JSON.parse(longer[1]), seen) : value;
    items.push(type === "object" ? `${key}:${whole}` : whole);
  }
  return type === "object" ? `{${items.join()}}` : `[${items.join()}]`;
}

test("JSON: a value whose key is too long to be named says so", async (t) => {
  const { read } = await reading(t, JSON.stringify({ ["k".repeat(3000)]: "x".repeat(3000) }), {
    limits: { bytes: 2048 },
  });
  const { text, status } = parted(await read({ pointer: "" }));
  assert.match(text, /^"k+": \(string, 3002 bytes; the key is too long: read it by bytes\)$/);
  assert.equal(status, "Items 0-0 of 1 (object); that is all");
});

test("any JSON can be gone through by pointers, in bounded windows, to its last value", async (t) => {
  const limits = { bytes: 2048 };
  const { run, disk } = await reading(t, "", { limits });
  const value = fc.jsonValue({
    maxDepth: 4,
    stringUnit: fc.constantFrom("a", "é", "🟡", "\n", '"', "/", "~", " ", "x".repeat(15)),
  });
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(undefined, 2), async (any, indent) => {
      fs.writeFileSync(disk, JSON.stringify(any, null, indent));
      const all = await rebuilt(run, "", (bytes) => assert.ok(bytes <= limits.bytes, `${bytes} bytes`));
      assert.deepEqual(JSON.parse(all), JSON.parse(JSON.stringify(any)));
    }),
    { numRuns: 100 },
  );
});

test("a whole log of 20 MB is paged through in little memory", { timeout: 120_000 }, async (t) => {
  const { run, disk } = await reading(t, "");
  const out = fs.openSync(disk, "w");
  for (let at = 0; at < 200; at++)
    fs.writeSync(out, lines(1000, (n) => `${at}:${n} ${"x".repeat(90)}`).join("\n") + "\n");
  fs.closeSync(out);
  const before = process.memoryUsage().rss;
  const last = await run("read", { file_path: FILE, offset: 199_999 });
  assert.match(last, /^199:999 x+\n199:1000 x+\n\nLines 199999-200000 of 200000; end of file$/);
  assert.ok(process.memoryUsage().rss - before < 64e6);
});
