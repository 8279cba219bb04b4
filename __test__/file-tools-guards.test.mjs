// Read before write: what may be written and edited, by what was seen. The tables are those of the seed systems.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import v8 from "node:v8";
import vm from "node:vm";
import { fileTools, readBeforeWrite } from "@little-stack/files/tools";
import { until } from "./support/process.mjs";
import { link, plant, rootsSnapshot } from "./support/tree.mjs";
import { begin } from "./support/turns.mjs";
import { refused, withTools } from "./support/file-tools.mjs";

const FILE = "/session/a.txt";
const write = ["write", { file_path: FILE, content: "new" }];
const edit = ["edit", { file_path: FILE, old_string: "old", new_string: "new" }];

/** How the file came to be seen, and what it is when the call is made. */
const seen = {
  never: async () => {},
  "as absent": ({ run }) => run("read", { file_path: FILE }).catch(() => {}),
  "as it is": async ({ run, disk }) => {
    disk("old text");
    await run("read", { file_path: FILE });
  },
};
const now = { absent: undefined, present: "old text", changed: "OLD old text" };

/** A code, or what the file holds afterwards. */
const table = [
  ["never", "absent", "new", "FS_NOT_OBSERVED"],
  ["never", "present", "FS_NOT_OBSERVED", "FS_NOT_OBSERVED"],
  ["as absent", "absent", "new", "FS_NOT_FOUND"],
  ["as absent", "present", "FS_NOT_OBSERVED", "FS_NOT_FOUND"],
  ["as it is", "present", "new", "new text"],
  ["as it is", "changed", "FS_STALE_VERSION", "FS_STALE_VERSION"],
  ["as it is", "absent", "FS_STALE_VERSION", "FS_STALE_VERSION"],
];
/** Without the policy nothing is asked of the past. */
const unguarded = [
  ["never", "absent", "new", "FS_STALE_VERSION"],
  ["never", "present", "new", "new text"],
  ["as it is", "changed", "new", "OLD new text"],
];

const nextStep = {
  FS_NOT_OBSERVED: /Read the file with read first, then retry/,
  FS_STALE_VERSION: /read it again with read, then retry/,
  FS_NOT_FOUND: /list or glob/,
};

for (const [name, observation, rows] of [
  ["read before write", undefined, table],
  ["a policy of one's own making", readBeforeWrite(), table],
  ["no policy", false, unguarded],
]) {
  for (const [past, present, written, edited] of rows) {
    for (const [call, expected] of [
      [write, written],
      [edit, edited],
    ]) {
      test(`${name}: seen ${past}, now ${present}: ${call[0]} gives ${expected}`, async (t) => {
        const h = await withTools(t, { observation });
        const file = path.join(h.roots.session, "a.txt");
        h.disk = (text) => fs.writeFileSync(file, text);
        await seen[past](h);
        const there = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
        if (now[present] === undefined) fs.rmSync(file, { force: true });
        else if (now[present] !== there) h.disk(now[present]);
        if (expected.startsWith("FS_")) {
          const before = rootsSnapshot(h.roots);
          const error = await refused(h.run(...call), expected, nextStep[expected]);
          assert.match(error.message, /\/session\/a\.txt/);
          assert.deepEqual(rootsSnapshot(h.roots), before);
          assert.equal(
            h.events.some(({ type }) => type === "harness.file.updated"),
            false,
          );
        } else {
          await h.run(...call);
          assert.equal(fs.readFileSync(file, "utf8"), expected);
        }
      });
    }
  }
}

test("any window of the file counts as seen: lines, bytes, a pointer, a query, the end of it", async (t) => {
  const windows = [
    ["read", { offset: 2, limit: 1 }],
    ["read", { byte_offset: 3, byte_limit: 4 }],
    ["read", { byte_offset: 1000 }],
    ["read", { pointer: "/a" }],
    ["query", { jsonpath: "$.none" }],
  ];
  const { run, session } = await withTools(t);
  for (const [at, [tool, window]] of windows.entries()) {
    const file_path = `/session/${at}.json`;
    await session.files.writeText(file_path, '{\n"a": 1\n}');
    await refused(run("write", { file_path, content: "x" }), "FS_NOT_OBSERVED");
    await run(tool, { file_path, ...window });
    await run("edit", { file_path, old_string: '"a"', new_string: '"b"' });
    assert.equal((await session.files.read(file_path)).text(), '{\n"b": 1\n}');
  }
});

test("own writes and edits renew what was seen; listing and searching do not count", async (t) => {
  const { run, session } = await withTools(t);
  await run("write", { file_path: FILE, content: "one" });
  await run("edit", { file_path: FILE, old_string: "one", new_string: "two" });
  await run("write", { file_path: FILE, content: "three" });
  await run("edit", { file_path: FILE, old_string: "three", new_string: "four" });
  await run("remove", { path: FILE });
  await run("write", { file_path: FILE, content: "five" });
  await session.files.writeText("/session/b.txt", "x");
  await run("list", { path: "/session" });
  await run("glob", { pattern: "*.txt" });
  await run("grep", { pattern: "x" });
  await refused(run("write", { file_path: "/session/b.txt", content: "y" }), "FS_NOT_OBSERVED");
});

test("a refused window counts for nothing; an offset past the end neither", async (t) => {
  const { run, session } = await withTools(t);
  await session.files.writeText(FILE, "x");
  await refused(run("read", { file_path: FILE, offset: 7 }), "FS_NOT_FOUND", /1 line.*offset of 1 to 1/);
  await refused(run("read", { file_path: FILE, pointer: "/a/b" }), "FS_NOT_TEXT");
  await refused(run("write", { file_path: FILE, content: "y" }), "FS_NOT_OBSERVED");
  // That is not how a file is missing: it must not be taken for one that may be made anew.
  await session.files.writeText("/session/b.json", "{}");
  await refused(run("read", { file_path: "/session/b.json", pointer: "/a" }), "FS_NOT_FOUND");
  await refused(run("edit", { file_path: "/session/b.json", old_string: "{", new_string: "[" }), "FS_NOT_OBSERVED");
});

test("one file under several spellings is one file", async (t) => {
  const { run, session, roots } = await withTools(t);
  plant(roots.session, { "real/Absch\u00e4tzung.txt": "x" });
  fs.symlinkSync("real", path.join(roots.session, "link"));
  await run("read", { file_path: "/session/link//./Abscha\u0308tzung.txt" });
  await run("write", { file_path: "/session/real/Absch\u00e4tzung.txt", content: "y" });
  assert.equal((await session.files.read("/session/real/Absch\u00e4tzung.txt")).text(), "y");
});

test("each session handle sees for itself; turns of one go on with what was seen", async (t) => {
  const h = await withTools(t);
  const mine = fileTools();
  const call = async (session, name, input) => {
    const turn = await begin(t, session);
    try {
      return await turn.tools(mine)[name].execute(input, { toolCallId: "c", messages: [] });
    } finally {
      await turn.abort();
    }
  };
  const [one, other] = [await h.host.sessions.getOrCreate({ id: "a" }), await h.host.sessions.getOrCreate({ id: "a" })];
  await one.files.writeText(FILE, "x");
  await call(one, "read", { file_path: FILE });
  await refused(call(other, "write", { file_path: FILE, content: "y" }), "FS_NOT_OBSERVED");
  await call(one, "write", { file_path: FILE, content: "y" });
  await refused(call(one, "write", { file_path: "/session/none/../a", content: "y" }), "FS_INVALID_PATH");
});

test("the policy by itself: by key and actor; nobody's view allows new files only", () => {
  const policy = readBeforeWrite();
  const [a, b] = ["a", "b"].map((name) => ({ targetKey: name, displayPath: `/session/${name}` }));
  const [me, you] = [{}, {}];
  const next = () => assert.fail("it decides alone");
  policy.observed(a, { present: "v1" }, me);
  assert.deepEqual(policy.writeIntent(a, me, next), { replaceIfVersion: "v1" });
  assert.deepEqual(policy.editIntent(a, me, next), { version: "v1" });
  assert.deepEqual(policy.writeIntent(b, me, next), { createIfAbsent: true });
  assert.deepEqual(policy.writeIntent(a, you, next), { createIfAbsent: true });
  assert.throws(() => policy.editIntent(a, you, next), { code: "FS_NOT_OBSERVED" });
  policy.observed(a, { absent: true }, me);
  assert.deepEqual(policy.writeIntent(a, me, next), { createIfAbsent: true });
  assert.throws(() => policy.editIntent(a, me, next), { code: "FS_NOT_FOUND", message: /ENOENT/ });
  policy.observed(a, { present: "v2" }, undefined);
  assert.deepEqual(policy.writeIntent(a, undefined, next), { createIfAbsent: true });
  assert.throws(() => policy.editIntent(a, undefined, next), { code: "FS_NOT_OBSERVED" });
});

test("what was seen is forgotten with the session's handle", async () => {
  v8.setFlagsFromString("--expose-gc");
  const gc = vm.runInNewContext("gc");
  const policy = readBeforeWrite();
  const target = { targetKey: "a", displayPath: "/session/a" };
  let actor = {};
  const gone = new WeakRef(actor);
  policy.observed(target, { present: "v" }, actor);
  actor = undefined;
  await until(() => {
    gc();
    return gone.deref() === undefined;
  }, "the actor is gone");
  policy.observed(target, { present: "v" }, {}); // the policy itself was there all the while
});

test("a listener decides alone, hears what was seen, and one that throws loses no write", async (t) => {
  const heard = [];
  const note = (kind) => (target, second, third) => {
    heard.push([kind, target.displayPath, typeof second === "object" && !("id" in second) ? Object.keys(second) : []]);
    return typeof third === "function" ? third() : undefined;
  };
  const observation = { writeIntent: note("write"), editIntent: note("edit"), observed: note("observed") };
  const { run, session } = await withTools(t, { observation });
  await run("write", { file_path: FILE, content: "one" });
  await run("write", { file_path: FILE, content: "two" });
  await run("edit", { file_path: FILE, old_string: "two", new_string: "three" });
  await run("read", { file_path: FILE });
  await run("read", { file_path: "/session/none" }).catch(() => {});
  assert.deepEqual(heard, [
    ["write", FILE, []],
    ["observed", FILE, ["present"]],
    ["write", FILE, []],
    ["observed", FILE, ["present"]],
    ["edit", FILE, []],
    ["observed", FILE, ["present"]],
    ["observed", FILE, ["present"]],
    ["observed", "/session/none", ["absent"]],
  ]);
  const throws = () => {
    throw new Error("listener");
  };
  observation.observed = throws;
  const warnings = [];
  const warn = ({ code }) => warnings.push(code);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  await run("read", { file_path: FILE });
  await run("write", { file_path: FILE, content: "four" });
  await new Promise(setImmediate); // warnings are told a tick later
  assert.deepEqual(warnings, ["LITTLE_FILES_OBSERVED"], "once");
  assert.equal((await session.files.read(FILE)).text(), "four");
  observation.writeIntent = throws;
  await assert.rejects(run("write", { file_path: FILE, content: "five" }));
  assert.equal((await session.files.read(FILE)).text(), "four");
});

const notDecided = [
  null,
  "x",
  5,
  {},
  { createIfAbsent: false },
  { replaceIfVersion: undefined },
  { version: undefined },
];
for (const said of notDecided) {
  test(`a policy that gives ${JSON.stringify(said)} has guarded nothing: refused, the file stays`, async (t) => {
    const observation = { writeIntent: () => said, editIntent: () => said, observed() {} };
    const { run, roots } = await withTools(t, { observation });
    const file = path.join(roots.session, "a.txt");
    fs.writeFileSync(file, "old");
    const before = rootsSnapshot(roots);
    await refused(run(...write), "FS_INVALID_OPTION", /writeIntent/);
    await refused(run(...edit), "FS_INVALID_OPTION", /editIntent/);
    assert.deepEqual(rootsSnapshot(roots), before);
  });
}

test("a policy's own words reach the model; it may take its time; those of a system call are kept back", async (t) => {
  const words = { writeIntent: new Error("Reports are final."), editIntent: new Error("Not on Sundays.") };
  const observation = {
    async writeIntent() {
      throw words.writeIntent;
    },
    editIntent() {
      throw words.editIntent;
    },
    observed() {},
  };
  const { run, session, events } = await withTools(t, { observation });
  await session.files.writeText(FILE, "old");
  const { cause } = await refused(run(...write), "FS_SANDBOX_DENIED", /Reports are final/);
  assert.equal(cause, words.writeIntent);
  await refused(run(...edit), "FS_SANDBOX_DENIED", /Not on Sundays/);
  assert.equal(events.filter(({ type }) => type === "harness.file.refused").length, 2);
  words.writeIntent = Object.assign(new Error("ENOENT: /home/me"), { syscall: "open" });
  const { message } = await refused(run(...write), "FS_IO_ERROR");
  assert.doesNotMatch(message, /home/);
  observation.writeIntent = async () => ({ createIfAbsent: true });
  await refused(run(...write), "FS_NOT_OBSERVED");
  assert.equal((await session.files.read(FILE)).text(), "old");
});

test("a listener that rejects loses no write, and does not end the process", async (t) => {
  const observation = { writeIntent() {}, editIntent() {}, observed: () => Promise.reject(new Error("late")) };
  const { run, session } = await withTools(t, { observation });
  await run("write", { file_path: FILE, content: "one" });
  await new Promise(setImmediate);
  assert.equal((await session.files.read(FILE)).text(), "one");
});

test("a link in the way of a write is told as one, not as a file to be read first", async (t) => {
  const { run, roots } = await withTools(t);
  plant(roots.session, { "a.txt": "old", link: link("a.txt"), dangling: link("none") });
  for (const file_path of ["/session/link", "/session/dangling"]) {
    await run("read", { file_path: "/session/dangling" }).catch(() => {});
    const { message } = await refused(run("write", { file_path, content: "x" }), "FS_NOT_OBSERVED", /symbolic link/);
    assert.doesNotMatch(message, /Read the file/);
  }
  await run("remove", { path: "/session/dangling" });
  await run("write", { file_path: "/session/dangling", content: "x" });
  assert.equal(fs.readFileSync(path.join(roots.session, "dangling"), "utf8"), "x");
});

test("what cannot be read first is told with another way out", async (t) => {
  const { run, roots } = await withTools(t, { names: { remove: "rm" } });
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const files = { bin: "a\0b", latin: Buffer.from([0xe9, 0x61]), text: "abc", "small.png": png };
  files["large.png"] = Buffer.concat([png, Buffer.alloc(9 * 1024 * 1024)]);
  for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(roots.session, name), content);
  const writeTo = (name) => run("write", { file_path: `/session/${name}`, content: "x" });
  for (const name of ["bin", "latin", "large.png"]) {
    const { message } = await refused(writeTo(name), "FS_NOT_OBSERVED", /remove it with rm if it is to be replaced/);
    assert.doesNotMatch(message, /Read the file/);
  }
  for (const name of ["text", "small.png"]) await refused(writeTo(name), "FS_NOT_OBSERVED", /Read the file with read/);
  await run("rm", { path: "/session/bin" });
  assert.match(await writeTo("bin"), /^Created/);
});

test("refusals are events, with the tool's name; what was read and edited is told at the end", async (t) => {
  const h = await withTools(t);
  await h.session.files.writeText(FILE, "old");
  await h.run(...write).catch(() => {});
  await h.run("read", { file_path: FILE });
  await h.run(...edit);
  await h.run("write", { file_path: "/session/b.txt", content: "x" });
  await h.run("remove", { path: "/session/b.txt" });
  const refusals = h.events.filter(({ type }) => type === "harness.file.refused");
  assert.deepEqual(
    refusals.map(({ metadata, turnId }) => [metadata.operation, turnId === h.turn.id]),
    [["write", true]],
  );
  const { files } = await h.turn.finish();
  assert.deepEqual(files, {
    read: [FILE],
    written: [FILE, "/session/b.txt"],
    edited: [FILE],
    removed: ["/session/b.txt"],
  });
});
