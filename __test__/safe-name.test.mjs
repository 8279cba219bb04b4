// `safeName` of a staged file: portable on every system, close to the name that was given, one for each file of a message.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withHost } from "./support/host.mjs";

const DEVICE = /^(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\.|$)/i;
let messages = 0;

/** The safe names that a message with files of these names gets. */
async function safeNames(session, names) {
  const parts = names.map((filename) => ({ type: "file", mediaType: "text/plain", filename, url: "data:,x" }));
  let given;
  const stageMessage = async ({ inputFiles }) => {
    given = inputFiles;
  };
  await session.stageMessages([{ id: `m${(messages += 1)}`, role: "user", parts }], { stageMessage });
  assert.deepEqual(
    given.map(({ name }) => name),
    names,
    "name is the one that was given",
  );
  return given.map(({ safeName }) => safeName);
}

const cases = {
  "report.pdf": "report.pdf",
  "报告.pdf": "报告.pdf",
  "合同.pdf": "合同.pdf",
  "Abscha\u0308tzung (final).pdf": "Abschätzung_final.pdf",
  "हिन्दी फ़ाइल.txt": "हिन्दी_फ़ाइल.txt".normalize("NFC"),
  "..": "file",
  ".": "file",
  "...": "file",
  " ": "file",
  "🎉.png": "file.png",
  ".env": "env",
  ".gitignore": "gitignore",
  "....pdf": "file.pdf",
  "__init__.py": "__init__.py",
  "-rf": "rf",
  "--output=x.txt": "output_x.txt",
  "../../etc/passwd": "etc_passwd",
  "/etc/passwd": "etc_passwd",
  "C:\\Users\\me\\b.pdf": "C_Users_me_b.pdf",
  "a/b/c.txt": "a_b_c.txt",
  'a?b*c<d>e|f"g.txt': "a_b_c_d_e_f_g.txt",
  "line\nbreak\u0000\u0007.txt": "line_break.txt",
  "evil\u202etxt.exe": "eviltxt.exe",
  "zero\u200bwidth\ufeff.md": "zerowidth.md",
  con: "_con",
  "CON.txt": "_CON.txt",
  "nul.tar.gz": "_nul.tar.gz",
  "COM¹.log": "_COM¹.log",
  "com10.log": "com10.log",
  "console.log": "console.log",
  "name.": "name",
  "name. . ": "name",
  "name.txt ": "name.txt",
  "report..final.md": "report..final.md",
  "v1.2 final": "v1.2_final",
  "archive.tar.gz": "archive.tar.gz",
  "\ud800.txt": "file.txt",
  "$(rm -rf ~).sh": "rm_-rf.sh",
  "%2e%2e%2f": "2e_2e_2f",
};

test("names by name", async (t) => {
  const { main } = await withHost(t);
  for (const [name, expected] of Object.entries(cases)) {
    assert.deepEqual(await safeNames(main, [name]), [expected], JSON.stringify(name));
  }
});

test("one name for each file, also where upper and lower case are the same", async (t) => {
  const { main } = await withHost(t);
  const given = [
    "a.pdf",
    "a.pdf",
    "A.PDF",
    "a-2.pdf",
    "a.pdf",
    "ä.pdf",
    "a\u0308.pdf",
    "Ä.pdf",
    "straße",
    "STRASSE",
    "a?",
    "a*",
    "CON",
    "con",
  ];
  assert.deepEqual(await safeNames(main, given), [
    "a.pdf",
    "a-2.pdf",
    "A-3.PDF",
    "a-2-2.pdf",
    "a-4.pdf",
    "ä.pdf",
    "ä-2.pdf",
    "Ä-3.pdf",
    "straße",
    "STRASSE-2",
    "a",
    "a-2",
    "_CON",
    "con-2",
  ]);
});

test("long names are cut on whole characters, and keep their extension", async (t) => {
  const { main } = await withHost(t);
  const given = [
    "x".repeat(500) + ".pdf",
    "x".repeat(400) + ".pdf",
    "報".repeat(100) + ".docx",
    "😀a".repeat(300) + ".png",
    "y".repeat(2_000_000),
    `con${"-".repeat(300)}x.txt`,
    `a.${"e".repeat(200)}`,
  ];
  const names = await safeNames(main, given);
  assert.deepEqual(names.slice(0, 3), [
    "x".repeat(116) + ".pdf",
    "x".repeat(114) + "-2.pdf",
    "報".repeat(38) + ".docx",
  ]);
  assert.equal(names[5], "_con.txt");
  for (const name of names) assert.ok(Buffer.byteLength(name) <= 120 && name.isWellFormed(), name);
});

test("a thousand files of one name", async (t) => {
  const { main } = await withHost(t);
  const names = await safeNames(
    main,
    Array.from({ length: 1000 }, () => "scan.jpg"),
  );
  assert.deepEqual(names.slice(0, 3), ["scan.jpg", "scan-2.jpg", "scan-3.jpg"]);
  assert.equal(names.at(-1), "scan-1000.jpg");
});

const piece = fc.oneof(
  fc.constantFrom(
    "a",
    "B",
    "é",
    "e\u0301",
    "報",
    "😀",
    ".",
    "..",
    " ",
    "-",
    "_",
    "/",
    "\\",
    ":",
    "\u0000",
    "\u001f",
    "\u009f",
    "\u202e",
    "\ud800",
    "con",
    "NUL",
    "com1",
    "lpt³",
    "~",
    "$",
    "%",
    "\u3164",
    "\ufe0f",
  ),
  fc.string({ unit: "binary", maxLength: 4 }),
);
const stem = fc.array(piece, { minLength: 1, maxLength: 60 }).map((pieces) => pieces.join(""));
const extension = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const name = fc
  .oneof(
    stem,
    fc.tuple(stem, extension).map(([text, ext]) => `${text}.${ext}`),
  )
  .filter((text) => text !== "");

test(
  "any names: portable, unique, with their extension, and files can be written under them",
  { timeout: 120_000 },
  async (t) => {
    const { main } = await withHost(t, { durability: "none", trace: false });
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 8 }), async (names) => {
        const safe = await safeNames(main, names);
        for (const [at, each] of safe.entries()) {
          assert.match(each, /^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._-]*$/u);
          assert.doesNotMatch(each, DEVICE);
          assert.doesNotMatch(each, /[. ]$/);
          assert.equal(each, each.normalize("NFC"));
          assert.ok(Buffer.byteLength(each) <= 120);
          const given = /[\p{L}\p{N}😀](\.[a-z0-9]{1,8})$/u.exec(names[at].replace(/[\u3164]/g, "")); // which is a letter that nobody sees
          if (given) assert.ok(each.endsWith(given[1]), `${JSON.stringify(names[at])} became ${each}`);
        }
        const keys = safe.map((each) => each.toLowerCase().toUpperCase());
        assert.equal(new Set(keys).size, safe.length, `${safe} are one file where case does not count`);
        const path = `/session/names/${safe[0]}`;
        assert.equal((await main.files.writeText(path, "x")).path, path);
      }),
      { numRuns: 150 },
    );
  },
);
