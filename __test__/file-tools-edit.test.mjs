// Literal edits: what they match, what they leave, and how they are refused.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { sessionFileSystem } from "@little-stack/files/tools";
import { refused, withTools } from "./support/file-tools.mjs";

const FILE = "/session/a.txt";

const refusals = [
  [
    "not there",
    "one two",
    [{ old_string: "three", new_string: "x" }],
    "FS_EDIT_NOT_FOUND",
    /copy old_string from it exactly/,
  ],
  ["empty", "one two", [{ old_string: "", new_string: "x" }], "FS_EDIT_NOT_FOUND", /empty/],
  ["half a character", "one 🟡", [{ old_string: "\ud83d", new_string: "x" }], "FS_EDIT_NOT_FOUND", /half a character/],
  ["twice", "one one", [{ old_string: "one", new_string: "x" }], "FS_AMBIGUOUS_EDIT", /2.*replace_all/s],
  ["twice, overlapping", "aaa", [{ old_string: "aa", new_string: "x" }], "FS_AMBIGUOUS_EDIT", /replace_all/],
  ["no change", "one two", [{ old_string: "one", new_string: "one" }], "FS_INVALID_OPTION", undefined],
  [
    "two that overlap",
    "one two",
    [
      { old_string: "one", new_string: "x" },
      { old_string: "e t", new_string: "y" },
    ],
    "FS_INVALID_OPTION",
    /overlap/,
  ],
  [
    "one of several not there",
    "one two",
    [
      { old_string: "one", new_string: "x" },
      { old_string: "three", new_string: "y" },
    ],
    "FS_EDIT_NOT_FOUND",
    undefined,
  ],
  ["a wrong kind of space", "a\u00a0b", [{ old_string: "a b", new_string: "x" }], "FS_EDIT_NOT_FOUND", undefined],
];
for (const [name, before, edits, code, message] of refusals) {
  test(`refused: ${name}; the file stays`, async (t) => {
    const { run, session } = await withTools(t);
    await session.files.writeText(FILE, before);
    await run("read", { file_path: FILE });
    await refused(run("edit", { file_path: FILE, edits }), code, message);
    if (edits.length === 1) await refused(run("edit", { file_path: FILE, ...edits[0] }), code, message);
    assert.equal((await session.files.read(FILE)).text(), before);
  });
}

test("stale comes before not found, and before ambiguous", async (t) => {
  const { run, roots, session } = await withTools(t);
  await session.files.writeText(FILE, "one");
  await run("read", { file_path: FILE });
  fs.writeFileSync(path.join(roots.session, "a.txt"), "two two");
  await refused(run("edit", { file_path: FILE, old_string: "one", new_string: "x" }), "FS_STALE_VERSION");
  await refused(run("edit", { file_path: FILE, old_string: "two", new_string: "x" }), "FS_STALE_VERSION");
  await run("read", { file_path: FILE });
  await refused(run("edit", { file_path: FILE, old_string: "one", new_string: "x" }), "FS_EDIT_NOT_FOUND");
});

test("a rewrite of the same size that puts the time back is noticed", async (t) => {
  const { run, roots, session } = await withTools(t);
  const file = path.join(roots.session, "a.txt");
  await session.files.writeText(FILE, "one");
  await run("read", { file_path: FILE });
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(file, "two");
  fs.utimesSync(file, atime, mtime);
  await refused(run("edit", { file_path: FILE, old_string: "two", new_string: "x" }), "FS_STALE_VERSION");
});

const kept = [
  ["a BOM", "\ufeffone\ntwo\n", { old_string: "one", new_string: "1" }, "\ufeff1\ntwo\n"],
  ["mixed line ends", "a\r\nb\nc\rd", { old_string: "b", new_string: "B" }, "a\r\nB\nc\rd"],
  ["no final newline", "a\nb", { old_string: "b", new_string: "c" }, "a\nc"],
  [
    "lines sent with LF for a file of CRLF",
    "a\r\nb\r\nc\r\n",
    { old_string: "a\nb", new_string: "x\ny\nz" },
    "x\r\ny\r\nz\r\nc\r\n",
  ],
  ["all places", "a-a-a", { old_string: "a", new_string: "bb", replace_all: true }, "bb-bb-bb"],
  ["nothing put there", "a b c", { old_string: " b", new_string: "" }, "a c"],
  ["what looks like a pattern", "a.c $& abc", { old_string: "a.c", new_string: "$&$1" }, "$&$1 $& abc"],
];
for (const [name, before, edit, after] of kept) {
  test(`kept: ${name}`, async (t) => {
    const { run, roots } = await withTools(t);
    const file = path.join(roots.session, "a.txt");
    fs.writeFileSync(file, before);
    await run("read", { file_path: FILE });
    await run("edit", { file_path: FILE, ...edit });
    assert.equal(fs.readFileSync(file, "utf8"), after);
  });
}

test("several edits at once are matched against the file as it was", async (t) => {
  const { run, session } = await withTools(t);
  await session.files.writeText(FILE, "one two three");
  await run("read", { file_path: FILE });
  const edits = [
    { old_string: "three", new_string: "one" },
    { old_string: "one", new_string: "two" },
    { old_string: "two", new_string: "three" },
  ];
  const said = await run("edit", { file_path: FILE, edits });
  assert.equal((await session.files.read(FILE)).text(), "two three one");
  assert.match(
    said,
    /^Edited \/session\/a\.txt: 3 places, the first at line 1\n\n--- .*\n\+\+\+ .*\n@@ -1.* \+1.* @@\n-one two three/,
  );
});

test("the diff is bounded, and says when it is cut", async (t) => {
  const { run, session } = await withTools(t, { limits: { bytes: 2000 } });
  await session.files.writeText(FILE, "old line of some length\n".repeat(500));
  await run("read", { file_path: FILE });
  const said = await run("edit", { file_path: FILE, old_string: "old", new_string: "new", replace_all: true });
  assert.ok(Buffer.byteLength(said) <= 2000, `${Buffer.byteLength(said)} bytes`);
  assert.match(said, /500 places/);
  assert.match(said, /the diff is longer than this\)$/);
});

test("what is no text is not edited", async (t) => {
  const { run, roots, session } = await withTools(t, { observation: false });
  for (const [name, bytes] of Object.entries({
    nul: "a\0b",
    latin1: Buffer.from([0x61, 0xe9, 0x62]),
    utf16: Buffer.from("\ufeffab", "utf16le"),
  })) {
    fs.writeFileSync(path.join(roots.session, name), bytes);
    const file_path = `/session/${name}`;
    await refused(run("edit", { file_path, old_string: "a", new_string: "x" }), "FS_NOT_TEXT");
  }
  await session.files.writeText("/session/dir/a", "x");
  await refused(run("edit", { file_path: "/session/dir", old_string: "a", new_string: "x" }), "FS_NOT_REGULAR_FILE");
});

const part = fc.constantFrom("a", "b", "ab", "\n", "\r\n", "\r", "é", "日本", "🟡", "\u0301", " ", "\t", "$&", "\\");
const content = fc
  .tuple(fc.constantFrom("", "\ufeff"), fc.array(part, { minLength: 1, maxLength: 60 }))
  .map(([bom, parts]) => bom + parts.join(""));

test("an edit changes the bytes of its match and no other", async (t) => {
  const { session, roots } = await withTools(t);
  const files = sessionFileSystem(session);
  const target = await files.resolve(FILE);
  const disk = path.join(roots.session, "a.txt");
  const whole = (text, at) => !/[\udc00-\udfff]/.test(text[at] ?? "");
  await fc.assert(
    fc.asyncProperty(
      content,
      fc.nat(),
      fc.nat(),
      fc.array(part, { maxLength: 5 }),
      async (text, from, length, parts) => {
        let start = from % text.length;
        let end = Math.min(text.length, start + 1 + (length % 8));
        while (!whole(text, start)) start--;
        while (!whole(text, end)) end++;
        const [old, put] = [text.slice(start, end), parts.join("")];
        if (old === put) return;
        fs.writeFileSync(disk, text);
        const outcome = await files.editText(target, [{ oldString: old, newString: put }]).then(
          () => "done",
          ({ code }) => code,
        );
        const after = fs.readFileSync(disk, "utf8");
        if (outcome === "done") {
          assert.equal(text.indexOf(old), text.lastIndexOf(old));
          const [head, rest] = [text.slice(0, start), text.slice(end)];
          assert.ok(after.startsWith(head) && after.endsWith(rest));
          // Line ends that are put where none were told follow those of the place.
          const middle = after.slice(head.length, after.length - rest.length);
          assert.equal(
            /[\r\n]/.test(old) ? middle : middle.replace(/\r\n?/g, "\n"),
            /[\r\n]/.test(old) ? put : put.replace(/\r\n?/g, "\n"),
          );
        } else {
          assert.equal(outcome, "FS_AMBIGUOUS_EDIT");
          assert.notEqual(text.indexOf(old), text.lastIndexOf(old));
          assert.equal(after, text);
        }
        const all = await files
          .editText(target, [{ oldString: old, newString: "<>", replaceAll: true }])
          .catch(() => {});
        if (all && outcome !== "done") assert.equal(fs.readFileSync(disk, "utf8"), text.split(old).join("<>"));
      },
    ),
    { numRuns: 300 },
  );
});
