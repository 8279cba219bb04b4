// What `fileTools` takes, what models are told of it, and what inputs are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools } from "@little-stack/files/tools";
import { assertError } from "./support/host.mjs";
import { link, plant } from "./support/tree.mjs";
import { refused, withTools } from "./support/file-tools.mjs";
import { versions } from "./support/ai-sdk.mjs";

const NAMES = ["read", "query", "write", "edit", "list", "glob", "grep", "remove", "todo_write"];

test("nine tools, each with a description, one flat schema and no offload", () => {
  const tools = fileTools();
  assert.deepEqual(Object.keys(tools), NAMES);
  for (const [name, { description, inputSchema, execute, offload }] of Object.entries(tools)) {
    assert.ok(description.length > 40 && description.length < 1024, `${name}: ${description.length}`);
    assert.equal(typeof execute, "function");
    assert.equal(offload, false);
    const { type, properties, additionalProperties, anyOf, oneOf } = inputSchema.jsonSchema;
    assert.deepEqual([type, additionalProperties, anyOf, oneOf], ["object", false, undefined, undefined]);
    assert.equal(typeof properties, "object");
    assert.deepEqual(JSON.parse(JSON.stringify(inputSchema.jsonSchema)), inputSchema.jsonSchema);
  }
});

for (const { name, sdk } of versions) {
  test(`${name} takes the schemas for its own`, async () => {
    for (const { inputSchema } of Object.values(fileTools())) {
      const schema = sdk.asSchema(inputSchema);
      assert.equal(await schema.jsonSchema, inputSchema.jsonSchema);
      assert.deepEqual(await schema.validate({ a: 1 }), { success: true, value: { a: 1 } });
    }
  });
}

test("names are those that are given, also in what models are told", () => {
  const tools = fileTools({ names: { read: "read_file", edit: "str_replace" } });
  assert.deepEqual(Object.keys(tools), ["read_file", "query", "write", "str_replace", ...NAMES.slice(4)]);
  assert.match(tools.write.description, /read_file.*str_replace/);
  assert.doesNotMatch(tools.write.description, /with read /);
});

test("descriptions tell the limits in force", () => {
  const limits = { lines: 77, lineCharacters: 88, bytes: 9999, entries: 66, matches: 55 };
  const { read, query, list, glob, grep } = fileTools({ limits });
  assert.match(read.description, /77.*9999.*88/s);
  assert.match(query.description, /55/);
  for (const { description } of [list, glob]) assert.match(description, /66/);
  assert.match(grep.description, /55/);
  assert.equal(grep.inputSchema.jsonSchema.properties.limit.maximum, 55);
});

test("without a policy models are not told of one", () => {
  assert.match(fileTools().write.description, /must have been read/);
  assert.doesNotMatch(fileTools({ observation: false }).write.description, /must have been read/);
});

for (const [what, options, message] of [
  ["no object", 5, /options/],
  ["a limit of 0", { limits: { lines: 0 } }, /limits\.lines/],
  ["too few bytes", { limits: { bytes: 1000 } }, /limits\.bytes.*1024/],
  ["too many bytes", { limits: { bytes: 2 ** 21 } }, /limits\.bytes/],
  ["half a match", { limits: { matches: 1.5 } }, /limits\.matches/],
  ["a name that no provider takes", { names: { read: "read file" } }, /names\.read/],
  ["two tools of one name", { names: { read: "write" } }, /names/],
  ["a tool that is none", { names: { bash: "sh" } }, /names\.bash/],
  ["a policy without listeners", { observation: {} }, /observation/],
  ["true for a policy", { observation: true }, /observation/],
  ["a plan in a relative folder", { plan: { dir: "plans" } }, /plan\.dir/],
  ["a plan in no folder", { plan: { dir: { host: "" } } }, /plan\.dir/],
]) {
  test(`refused: ${what}`, () => {
    assert.throws(
      () => fileTools(options),
      (error) => {
        assertError(error, "FS_INVALID_OPTION", { message });
        return true;
      },
    );
  });
}

test("outside of a turn: FS_NO_CONTEXT", async () => {
  for (const { execute } of Object.values(fileTools())) await refused(execute({}, {}), "FS_NO_CONTEXT");
});

const inputs = [
  ["read", { path: "/session/a" }, /takes no "path", only file_path, offset/],
  ["read", {}, /file_path must be a string, not undefined/],
  ["read", { file_path: 5 }, /file_path must be a string, not 5/],
  ["read", [], /takes an object/],
  ["read", "a", /takes an object/],
  ["read", { file_path: "/session/a", offset: 0 }, /offset must be an integer of 1 or more, not 0/],
  ["read", { file_path: "/session/a", limit: 2001 }, /limit must be an integer of 1 to 2000, not 2001/],
  ["read", { file_path: "/session/a", limit: "5" }, /limit must be/],
  ["read", { file_path: "/session/a", byte_offset: 0, offset: 1 }, /byte_offset and offset exclude each other/],
  ["read", { file_path: "/session/a", byte_limit: 4, pointer: "" }, /byte_limit and pointer exclude each other/],
  ["read", { file_path: "/session/a", byte_offset: -1 }, /byte_offset/],
  ["query", { file_path: "/session/a" }, /jsonpath must be a string/],
  ["query", { file_path: "/session/a", jsonpath: "$", limit: 201 }, /limit must be an integer of 1 to 200/],
  ["write", { file_path: "/session/a" }, /content must be a string/],
  ["edit", { file_path: "/session/a" }, /needs old_string and new_string, or edits/],
  ["edit", { file_path: "/session/a", old_string: "a" }, /new_string must be a string/],
  ["edit", { file_path: "/session/a", old_string: "a", new_string: "b", edits: [] }, /exclude each other/],
  ["edit", { file_path: "/session/a", edits: {} }, /edits must be an array/],
  ["edit", { file_path: "/session/a", edits: [] }, /edits must be an array of 1 to 1000/],
  ["edit", { file_path: "/session/a", edits: [{ old: "a" }] }, /edits\[0\] takes no "old"/],
  [
    "edit",
    { file_path: "/session/a", old_string: "a", new_string: "b", replace_all: "yes" },
    /replace_all must be true or false/,
  ],
  ["list", { path: "/session", limit: 1001 }, /limit must be an integer of 1 to 1000/],
  ["glob", { pattern: "" }, /pattern/],
  ["glob", { pattern: "/session/*", path: "/artifacts" }, /must not start with/],
  ["glob", { pattern: "[" }, /Not a glob.*put \\ before each/],
  ["grep", { pattern: "f(x" }, /Rust syntax.*put \\ before each, as in f\\\(x\\\)/],
  ["grep", { pattern: "a", glob: "/session/*", path: "/artifacts" }, /glob is of what is below path/],
  ["grep", { pattern: "" }, /pattern/],
  ["grep", { pattern: "a", context: 21 }, /context must be an integer of 0 to 20/],
  ["remove", {}, /path must be a string/],
  ["todo_write", { todos: "a" }, /todos must be an array/],
  ["todo_write", { todos: [{ content: "", status: "pending" }] }, /todos\[0\]\.content/],
  [
    "todo_write",
    { todos: [{ content: "a", status: "done" }] },
    /todos\[0\]\.status must be one of pending, in_progress/,
  ],
];
test("inputs that make no sense are refused, coded, in words to act on", async (t) => {
  const { run } = await withTools(t);
  for (const [name, input, message] of inputs) {
    const error = await refused(run(name, input), "FS_INVALID_OPTION", message);
    assert.ok(error.message.length < 400, error.message);
  }
});

test("what is refused for what it is says another way", async (t) => {
  const { run, roots } = await withTools(t, undefined, { quota: { fileBytes: 100 } });
  plant(roots.session, { "a.txt": "a", link: link("a.txt"), out: link("/etc") });
  for (const [input, code, message] of [
    [{ file_path: "/session/../a.txt", content: "" }, "FS_INVALID_PATH", /A path is like \/session\/notes\.md\.$/],
    [{ file_path: "a.txt", content: "" }, "FS_INVALID_PATH", /absolute, like \/session\/notes\.md: a\.txt$/],
    [{ file_path: "/session", content: "" }, "FS_SANDBOX_DENIED", /Name a file or folder in it\.$/],
    [{ file_path: "/session/out/a", content: "" }, "FS_SANDBOX_DENIED", /Name the file itself, not a link\.$/],
    [{ file_path: "/session/link", content: "" }, "FS_NOT_OBSERVED", /Remove it, or write to another path\.$/],
    [
      { file_path: "/session/b", content: "b".repeat(101) },
      "FS_QUOTA_EXCEEDED",
      /remove what is not needed with remove\.$/,
    ],
  ]) {
    await refused(run("write", input), code, message);
  }
});

test("an input that cannot be read is refused as well", async (t) => {
  const { run } = await withTools(t);
  const thrown = () => {
    throw new Error("no");
  };
  const input = Object.defineProperty({}, "file_path", { get: thrown, enumerable: true });
  for (const given of [input, new Proxy({}, { ownKeys: thrown })])
    await refused(run("read", given), "FS_INVALID_OPTION", /input of read cannot be read/);
});

test("null is as good as absent", async (t) => {
  const { run } = await withTools(t);
  await run("write", { file_path: "/session/a.txt", content: "x" });
  const all = { offset: null, limit: null, byte_offset: null, byte_limit: null, pointer: null };
  assert.match(await run("read", { file_path: "/session/a.txt", ...all }), /^x\n\nLines 1-1 of 1/);
});

test("without a wrapper they find the turn by the asynchronous context", async (t) => {
  const { turn, session } = await withTools(t);
  await session.files.writeText("/session/a.txt", "x");
  const { read } = fileTools();
  assert.match(await turn.run(() => read.execute({ file_path: "/session/a.txt" }, { toolCallId: "c" })), /^x\n/);
});

test("the signal of a call ends it", async (t) => {
  const { tools, session } = await withTools(t, { observation: false });
  await session.files.writeText("/session/a.json", "{}");
  const calls = {
    read: { file_path: "/session/a.json" },
    query: { file_path: "/session/a.json", jsonpath: "$" },
    write: { file_path: "/session/a.json", content: "x" },
    edit: { file_path: "/session/a.json", old_string: "{", new_string: "x" },
    list: { path: "/session" },
    glob: { pattern: "*" },
    grep: { pattern: "x" },
    remove: { path: "/session/a.json" },
  };
  for (const [name, input] of Object.entries(calls)) {
    const abortSignal = AbortSignal.abort(new Error("enough"));
    const error = await refused(
      tools[name].execute(input, { toolCallId: "c", messages: [], abortSignal }),
      "FS_ABORTED",
    );
    assert.equal(error.cause.message, "enough", name);
  }
  assert.equal((await session.files.read("/session/a.json")).text(), "{}");
});
