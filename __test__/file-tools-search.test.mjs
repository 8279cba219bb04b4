// list, glob, grep, query and remove: what they find, in which order, and how they stay short.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { plant } from "./support/tree.mjs";
import { parted, refused, withTools } from "./support/file-tools.mjs";

const TREE = {
  "src/a.ts": "import b\nconst a = 1\n",
  "src/b.ts": "export const b = 2\n",
  "src/deep/c.ts": "const c = 3\nconst d = 4\n",
  "src/data.json": '{"a":1}',
  "README.md": "# A const title\n",
  "bin.dat": Buffer.from("const\0binary"),
};

async function withTree(t, options) {
  const h = await withTools(t, options);
  plant(
    h.roots.session,
    Object.fromEntries(Object.entries(TREE).map(([name, content]) => [name, { kind: "file", content, mode: 0o600 }])),
  );
  return h;
}

test("list: folders, files and their sizes, sorted; a page says how to go on", async (t) => {
  const { run } = await withTree(t);
  assert.equal(
    await run("list", { path: "/session" }),
    "/session/README.md  16 bytes\n/session/bin.dat  12 bytes\n/session/src/\n\nEntries 0-2 of 3; that is all",
  );
  assert.equal(
    await run("list", { path: "/session", limit: 2 }),
    "/session/README.md  16 bytes\n/session/bin.dat  12 bytes\n\nEntries 0-1 of 3; continue with offset: 2",
  );
  assert.equal(await run("list", { path: "/session/", offset: 2 }), "/session/src/\n\nEntries 2-2 of 3; that is all");
  assert.match(await run("list", { path: "/session", recursive: true }), /\/session\/src\/deep\/c\.ts {2}24 bytes/);
  assert.equal(await run("list", { path: "/session", offset: 7 }), "No entries from 7 on; there are 3.");
  assert.equal(await run("list", { path: "/artifacts" }), "The folder is empty.");
  await refused(run("list", { path: "/session/none" }), "FS_NOT_FOUND", /See with list/);
  await refused(run("list", { path: "/session/README.md" }), "FS_NOT_DIRECTORY", /It is a file: use read/);
});

test("list, glob and grep stay within their bytes, and pages put together give all", async (t) => {
  const { run, roots } = await withTools(t, { limits: { bytes: 1500 } });
  plant(
    roots.session,
    Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`d/${"n".repeat(80)}${at}.txt`, "needle"])),
  );
  const found = [];
  for (let offset = 0; offset !== undefined;) {
    const result = await run("list", { path: "/session/d", offset });
    assert.ok(Buffer.byteLength(result) <= 1500);
    const { text, status } = parted(result);
    found.push(...text.split("\n"));
    offset = /continue with offset: (\d+)/.exec(status)?.[1];
    offset &&= Number(offset);
  }
  assert.equal(new Set(found).size, 300);
  for (const [tool, input] of [
    ["glob", { pattern: "**/*.txt" }],
    ["grep", { pattern: "needle" }],
  ]) {
    const result = await run(tool, input);
    assert.ok(Buffer.byteLength(result) <= 1500, `${tool}: ${Buffer.byteLength(result)}`);
    assert.match(result, /of 300/);
  }
});

const globs = [
  [{ pattern: "**/*.ts" }, ["/session/src/a.ts", "/session/src/b.ts", "/session/src/deep/c.ts"]],
  [{ pattern: "*.ts", path: "/session/src" }, ["/session/src/a.ts", "/session/src/b.ts"]],
  [{ pattern: "/session/src/*.ts" }, ["/session/src/a.ts", "/session/src/b.ts"]],
  [{ pattern: "/session/src/**/c.*" }, ["/session/src/deep/c.ts"]],
  [{ pattern: "src/{a,b}.ts" }, ["/session/src/a.ts", "/session/src/b.ts"]],
  [{ pattern: "/session/README.md" }, ["/session/README.md"]],
  [{ pattern: "/**/README.md" }, ["/session/README.md"]],
  [{ pattern: "./src/*.ts" }, ["/session/src/a.ts", "/session/src/b.ts"]],
  [{ pattern: "/session/src/*.ts", path: "/session/src/" }, ["/session/src/a.ts", "/session/src/b.ts"]],
];
test("a result is no longer than its bound, also where the path alone is", async (t) => {
  const { run } = await withTools(t, { limits: { bytes: 1024 } });
  const long = `/session/${Array.from({ length: 15 }, (_, at) => `${at}`.padEnd(240, "x")).join("/")}`;
  const results = [
    await run("write", { file_path: long, content: "one\n".repeat(100) }),
    await run("read", { file_path: long }),
    await run("edit", { file_path: long, old_string: "one", new_string: "two", replace_all: true }),
    await run("list", { path: "/session", recursive: true }),
    await run("glob", { pattern: "**" }),
    await run("grep", { pattern: "two" }),
    await run("remove", { path: long }),
  ];
  for (const result of results) assert.ok(Buffer.byteLength(result) <= 1024, result.slice(0, 40));
});

test("glob: everywhere, below a folder, or with the folder in the pattern", async (t) => {
  const { run } = await withTree(t);
  for (const [input, expected] of globs) {
    const { text, status } = parted(await run("glob", input));
    assert.deepEqual(
      text.split("\n").map((line) => line.replace(/ {2}\d+ bytes$/, "")),
      expected,
      JSON.stringify(input),
    );
    assert.equal(status, `${expected.length} in all`);
  }
  assert.equal(await run("glob", { pattern: "*.none" }), "Nothing matches.");
  assert.equal(await run("glob", { pattern: "/**" }), await run("glob", { pattern: "**" }));
  await refused(run("glob", { pattern: "[" }), "FS_INVALID_OPTION");
  await refused(run("grep", { pattern: "a", glob: "[" }), "FS_INVALID_OPTION", /Not a glob/);
  await refused(run("glob", { pattern: "*", path: "/session/none" }), "FS_NOT_FOUND");
});

test("glob: the limit is that of all roots together, in the order of paths", async (t) => {
  const h = await withTools(t, { limits: { entries: 3 } });
  plant(h.roots.session, { a: "a", b: "b" });
  plant(h.roots.artifacts, { c: "c", d: "d" });
  const { text, status } = parted(await h.run("glob", { pattern: "*" }));
  assert.equal(text.split("\n").length, 3);
  assert.equal(status, "1-3 of 4; narrow the pattern or path to see the others");
});

test("grep: lines are no longer than the host's limit for lines, where that is shorter", async (t) => {
  const h = await withTools(t, { limits: { lineCharacters: 20 } });
  plant(h.roots.session, { a: "x".repeat(100) });
  const { text } = parted(await h.run("grep", { pattern: "x" }));
  assert.equal(text, `/session/a\n1:${"x".repeat(20)}… (cut; byte_offset: 0)`);
});

test("grep: lines with their numbers, by file; binary files are left out", async (t) => {
  const { run } = await withTree(t);
  assert.equal(
    await run("grep", { pattern: "const [a-d] " }),
    "/session/src/a.ts\n2:const a = 1\n/session/src/b.ts\n1:export const b = 2\n/session/src/deep/c.ts\n1:const c = 3\n2:const d = 4\n\nMatching lines: 4 in 3 files, 1 binary left out",
  );
  assert.match(
    await run("grep", { pattern: "CONST", ignore_case: true, path: "/session/README.md" }),
    /^\/session\/README\.md\n1:# A const title/,
  );
  assert.match(await run("grep", { pattern: "CONST", path: "/session/README.md" }), /^No match in 1 files/);
  assert.match(await run("grep", { pattern: "const", glob: "*.md" }), /Matching lines: 1 in 1 files/);
  assert.match(
    await run("grep", { pattern: "const", glob: "deep/*.ts", path: "/session/src" }),
    /Matching lines: 2 in 1 files/,
  );
  assert.equal(
    parted(await run("grep", { pattern: "const", limit: 2 })).status,
    "2 matching lines of 5 in 4 files, 1 binary left out; narrow the pattern, path or glob to see others",
  );
  await refused(run("grep", { pattern: "(" }), "FS_INVALID_OPTION", /\(Rust syntax\): unclosed group/);
  await refused(run("grep", { pattern: "(?=a)" }), "FS_INVALID_OPTION");
  await refused(run("grep", { pattern: "a", path: "/session/none" }), "FS_NOT_FOUND");
});

const searched = [
  ["*.ts", undefined, ["a.ts", "b.ts", "deep/c.ts"]],
  ["src/*.ts", undefined, ["a.ts", "b.ts"]],
  ["./src/*.ts", undefined, ["a.ts", "b.ts"]],
  ["./*.ts", "/session/src", ["a.ts", "b.ts"]],
  ["/session/src/*.ts", undefined, ["a.ts", "b.ts"]],
  ["/session/src/b.ts", undefined, ["b.ts"]],
  ["/session/**/c.ts", undefined, ["deep/c.ts"]],
  ["/session/src/*.ts", "/session", ["a.ts", "b.ts"]],
  ["/src/*.ts", undefined, ["a.ts", "b.ts"]],
  ["/**/c.ts", undefined, ["deep/c.ts"]],
];
test("grep: a glob is of names, of paths below the folder, or begins with the folder", async (t) => {
  const { run } = await withTree(t);
  for (const [glob, folder, expected] of searched) {
    const result = await run("grep", { pattern: "const", glob, path: folder });
    assert.deepEqual(
      result.match(/^\/session\/src\/.*$/gm)?.map((line) => line.slice("/session/src/".length)),
      expected,
      `${glob} ${folder}`,
    );
  }
});

test("grep: context, and a mark where lines are left out between groups", async (t) => {
  const { run, roots } = await withTools(t);
  plant(roots.session, {
    a: Array.from({ length: 20 }, (_, at) => (at === 3 || at === 12 ? "hit" : `line ${at + 1}`)).join("\n"),
  });
  const { text } = parted(await run("grep", { pattern: "hit", context: 1 }));
  assert.equal(text, "/session/a\n3-line 3\n4:hit\n5-line 5\n--\n12-line 12\n13:hit\n14-line 14");
});

test("grep: a long line is cut, a huge single line too", async (t) => {
  const { run, roots } = await withTools(t);
  fs.writeFileSync(path.join(roots.session, "a"), `${"🟡".repeat(100_000)}needle${"x".repeat(1_000_000)}`);
  const result = await run("grep", { pattern: "needle" });
  assert.ok(Buffer.byteLength(result) < 4000 && result.isWellFormed());
  assert.match(result, /^\/session\/a\n1:.*needle.*… \(cut; byte_offset: \d+\)\n\nMatching lines: 1 in 1 files$/);
  const byte_offset = Number(/byte_offset: (\d+)/.exec(result)[1]);
  assert.match(await run("read", { file_path: "/session/a", byte_offset, byte_limit: 3000 }), /needle/);
});

const orders = {
  orders: Array.from({ length: 1000 }, (_, id) => ({ id, status: id % 10 === 0 ? "failed" : "ok", note: "n" })),
};

test("query: matches with their paths, counted exactly, shown up to the cap", async (t) => {
  const { run, session } = await withTools(t);
  const file_path = "/artifacts/tool-results/query/1.json";
  await session.files.writeJSON(file_path, orders);
  const query = (jsonpath, more) => run("query", { file_path, jsonpath, ...more });
  assert.equal(
    await query("$.orders[?@.status == 'failed'].id", { limit: 2 }),
    "$['orders'][0]['id'] = 0\n$['orders'][10]['id'] = 10\n\nMatches 1-2 of 100; to see others narrow the JSONPath, or raise limit (at most 200)",
  );
  assert.match(await query("$.orders[?@.status == 'failed'].id"), /\n\nAll 100 matches$/);
  assert.match(await query("$..id"), /Matches 1-200 of 1000; to see others narrow the JSONPath$/);
  assert.match(
    await query("$.orders"),
    /^\$\['orders'\] = \(array, \d+ bytes; read pointer: "\/orders"\)\n\nAll 1 matches$/,
  );
  assert.equal(await query("$.none"), "No match.");
  await refused(query("orders"), "FS_INVALID_OPTION");
  await refused(query("$["), "FS_INVALID_OPTION");
  await refused(run("query", { file_path: "/session/none", jsonpath: "$" }), "FS_NOT_FOUND", /list or glob/);
});

test("query: a regular expression may come from the value; what could take for ever is refused at once", async (t) => {
  const { run, session } = await withTools(t);
  const file_path = "/session/a.json";
  const query = (jsonpath) => run("query", { file_path, jsonpath });
  await session.files.writeJSON(file_path, { regex: "b.?b", values: ["abc", "bcd", "bab", "bba", true, []] });
  assert.equal(await query("$.values[?match(@, $.regex)]"), "$['values'][2] = \"bab\"\n\nAll 1 matches");
  assert.match(await query("$.values[?search(@, $.regex)]"), /All 2 matches$/);
  const text = "ab".repeat(100_000);
  const rows = Array.from({ length: 20_000 }, (_, at) => ({ a: `${at}`, b: "x" }));
  await session.files.writeJSON(file_path, { rows, text, other: text, last: "7" });
  assert.match(await query("$.rows[?@.a == $.last]"), /All 1 matches$/);
  for (const slow of [
    "$.rows[?search($.text, '(a|b)*c')]",
    "$.rows[?$ == $]",
    "$.rows[?$.text == $.other]",
    "$.rows[?search(@.a, @.b)]",
    "$.rows[?search(@.a, '\\u0028a{1,90}\\u0029{1,90}')]",
  ]) {
    await refused(query(slow), "FS_INVALID_OPTION", /could take too long.*read it with a pointer/);
  }
});

test("query: NDJSON line by line", async (t) => {
  const { run, session } = await withTools(t);
  await session.files.writeText("/session/a.ndjson", '{"a":1}\n{"a":2}\n{"b":3}\n');
  assert.equal(
    await run("query", { file_path: "/session/a.ndjson", jsonpath: "$.a" }),
    "line 1: $['a'] = 1\nline 2: $['a'] = 2\n\nAll 2 matches",
  );
});

test("remove: a file, a folder only when it is meant, never a root", async (t) => {
  const { run, session } = await withTree(t);
  assert.equal(await run("remove", { path: "/session/README.md" }), "Removed /session/README.md");
  await refused(run("remove", { path: "/session/README.md" }), "FS_NOT_FOUND", /ENOENT/);
  await refused(run("remove", { path: "/session/src" }), "FS_NOT_REGULAR_FILE", /recursive: true/);
  assert.equal(await run("remove", { path: "/session/src", recursive: true }), "Removed /session/src");
  await refused(
    run("remove", { path: "/session", recursive: true }),
    "FS_SANDBOX_DENIED",
    /Name a file or folder in it/,
  );
  assert.deepEqual(
    (await session.files.list("/session")).map((entry) => entry.path),
    ["/session/bin.dat"],
  );
});

test("grep and query count as a plain search does, whatever is shown", async (t) => {
  const { run, roots } = await withTools(t, { limits: { matches: 5, bytes: 1024 } });
  const line = fc
    .array(fc.constantFrom("a", "b", "é", "🟡", " ", "-"), { maxLength: 12 })
    .map((parts) => parts.join(""));
  const end = fc.constantFrom("\n", "\r\n");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(line, { maxLength: 20 }), { minLength: 1, maxLength: 5 }),
      end,
      async (files, lineEnd) => {
        fs.rmSync(path.join(roots.session, "g"), { recursive: true, force: true });
        plant(
          roots.session,
          Object.fromEntries(files.map((lines, at) => [`g/${at}.txt`, lines.map((text) => text + lineEnd).join("")])),
        );
        const matching = files.map((lines) => lines.filter((text) => /a+b|é$/u.test(text)).length);
        const total = matching.reduce((sum, count) => sum + count, 0);
        const said = await run("grep", { pattern: "a+b|é$", path: "/session/g" });
        assert.ok(Buffer.byteLength(said) <= 1024 && said.isWellFormed());
        if (total === 0) assert.match(said, /^No match in \d+ files/);
        else
          assert.match(
            said,
            new RegExp(`(?:: | of )${total} in ${matching.filter((count) => count > 0).length} files`),
          );
        plant(roots.session, { "g/all.json": JSON.stringify(files) });
        const found = await run("query", { file_path: "/session/g/all.json", jsonpath: "$[*][?@ == 'a' || @ == 'b']" });
        const wanted = files.flat().filter((text) => text === "a" || text === "b").length;
        if (wanted === 0) assert.equal(found, "No match.");
        else assert.match(found, new RegExp(`(?:All | of )${wanted}(?: matches|;)`));
      },
    ),
    { numRuns: 60 },
  );
});
