// Plans: the list of a session, and its Markdown file.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { localDir } from "@little-stack/files";
import { fileTools } from "@little-stack/files/tools";
import { tempDir } from "./support/host.mjs";
import { dir as folder, fifo, file as fileOf, link, plant } from "./support/tree.mjs";
import { begin } from "./support/turns.mjs";
import { refused, withTools } from "./support/file-tools.mjs";

const TODOS = [
  { content: "look around", status: "completed" },
  { content: "write", status: "in_progress" },
  { content: "test", status: "pending" },
  { content: "ship", status: "cancelled" },
];
const planPath = "/session/plans/test.md";

/** One call, in a turn of its own. */
async function call(t, session, tools, input) {
  const turn = await begin(t, session);
  const result = await turn.tools(tools).todo_write.execute(input, { toolCallId: "c", messages: [] });
  await turn.finish();
  return result;
}

test("the list and the file; nothing given shows the list", async (t) => {
  const { run, session } = await withTools(t);
  assert.deepEqual(await run("todo_write", {}), []);
  await assert.rejects(session.files.read(planPath));
  assert.deepEqual(await run("todo_write", { todos: TODOS }), TODOS);
  const text = (await session.files.read(planPath)).text();
  assert.match(
    text,
    /^# Execution Plan\n\nsession: test\nupdated: \d{4}-\d\d-\d\dT[\d:.]+Z\n\n## Task List\n\n- \[x\] look around\n- \[>\] write\n- \[ \] test\n- \[-\] ship\n$/,
  );
  for (const input of [{}, { todos: [] }, { todos: null }, undefined])
    assert.deepEqual(await run("todo_write", input), TODOS);
  const fewer = TODOS.slice(0, 1);
  assert.deepEqual(await run("todo_write", { todos: fewer }), fewer);
  assert.deepEqual(await run("todo_write", {}), fewer);
});

test("the list is there after a restart, and follows a file that a person changed", async (t) => {
  const h = await withTools(t);
  await h.run("todo_write", { todos: TODOS });
  await h.turn.finish();
  const again = await h.host.sessions.getOrCreate({ id: "test" });
  assert.deepEqual(await call(t, again, fileTools(), {}), TODOS);
  const file = path.join(h.roots.session, "plans/test.md");
  fs.writeFileSync(
    file,
    fs.readFileSync(file, "utf8").replace("- [ ] test", "  * [X] test\nnot an item\n- [?] neither"),
  );
  assert.deepEqual(
    await call(t, again, fileTools(), {}),
    TODOS.map((todo) => (todo.content === "test" ? { ...todo, status: "completed" } : todo)),
  );
});

test("no item can break out of its line, and every one is read back as it was", async (t) => {
  const h = await withTools(t);
  const content = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
    fc.constantFrom(
      "a\n- [x] b",
      "a\r\nb",
      "\\n",
      "c:\\new",
      "\u2028",
      "\u0000\u001b[31m",
      "\ud800",
      "\\u000a",
      "- [ ] x",
      "## Task List",
    ),
  );
  const todo = fc.record({ content, status: fc.constantFrom("pending", "in_progress", "completed", "cancelled") });
  await h.turn.finish();
  const turn = await begin(t, h.session);
  const options = { toolCallId: "c", messages: [] };
  await fc.assert(
    fc.asyncProperty(fc.array(todo, { minLength: 1, maxLength: 6 }), async (todos) => {
      const given = todos.filter((each) => each.content.trim() !== "");
      if (given.length === 0) return;
      const wanted = given.map((each) => ({ ...each, content: each.content.toWellFormed() }));
      await turn.tools(fileTools()).todo_write.execute({ todos: given }, options);
      const text = fs.readFileSync(path.join(h.roots.session, "plans/test.md"), "utf8");
      assert.equal(
        text.split(/\r\n|\n|\r|\u2028|\u2029/).filter((line) => line.startsWith("- [")).length,
        given.length,
      );
      // Tools of another making know it by the file only.
      assert.deepEqual(await turn.tools(fileTools()).todo_write.execute({}, options), wanted);
    }),
    { numRuns: 100 },
  );
});

test("in another folder of the session, and in one of the host", async (t) => {
  const inside = await withTools(t, { plan: { dir: "/artifacts/plans/" } });
  await inside.run("todo_write", { todos: TODOS });
  assert.match((await inside.session.files.read("/artifacts/plans/test.md")).text(), /^# Execution Plan/);
});

test("a host folder: 0600 in 0700, whole, one file for each session of each dataDir", async (t) => {
  const host = path.join(tempDir(t), "project/.plans");
  const one = await withTools(t, { plan: { dir: { host } } });
  const two = await withTools(t, { plan: { dir: { host } } });
  await one.run("todo_write", { todos: TODOS });
  await two.run("todo_write", { todos: TODOS.slice(0, 1) });
  const names = fs.readdirSync(host);
  assert.equal(names.length, 2);
  for (const name of names) {
    assert.match(name, /^test-[0-9a-f]{12}\.md$/);
    assert.equal(fs.statSync(path.join(host, name)).mode & 0o777, 0o600);
  }
  assert.equal(fs.statSync(host).mode & 0o777, 0o700);
  assert.deepEqual(await one.run("todo_write", {}), TODOS);
  assert.deepEqual(await two.run("todo_write", {}), TODOS.slice(0, 1));
  assert.equal((await one.session.files.list("/session")).length, 0);
});

test("a host folder is where it was when it was named", async (t) => {
  const project = tempDir(t);
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(project);
  const { run } = await withTools(t, { plan: { dir: { host: "plans" } } });
  process.chdir(before);
  await run("todo_write", { todos: TODOS });
  assert.equal(fs.readdirSync(path.join(project, "plans")).length, 1);
});

test(
  "a host folder: a link, a pipe or a huge file in the place of the plan is not read",
  { timeout: 20_000 },
  async (t) => {
    const host = tempDir(t);
    const { run } = await withTools(t, { plan: { dir: { host } } });
    await run("todo_write", { todos: TODOS });
    const [name] = fs.readdirSync(host);
    fs.writeFileSync(path.join(host, "other"), "## Task List\n- [x] not ours\n");
    for (const instead of [
      link("other"),
      fifo(),
      fileOf(`## Task List\n- [x] not ours\n${"x".repeat(1024 * 1024)}`),
      folder(),
    ]) {
      fs.rmSync(path.join(host, name), { recursive: true });
      plant(host, { [name]: instead });
      assert.deepEqual(await run("todo_write", {}), TODOS);
    }
    fs.rmdirSync(path.join(host, name));
    await run("todo_write", { todos: TODOS });
    assert.match(fs.readFileSync(path.join(host, name), "utf8"), /^# Execution Plan/);
  },
);

test("ids of every kind give names of their own", async (t) => {
  const h = await withTools(t);
  await h.turn.finish();
  const tools = fileTools({ plan: { dir: "/session/plans" } });
  const dirs = new Set();
  for (const id of ["a/b", "a?b", "..", "A", "a", "x".repeat(300), "名", "con"]) {
    const session = await h.host.sessions.getOrCreate({ id });
    await call(t, session, tools, { todos: [{ content: id, status: "pending" }] });
    const [entry, ...others] = await session.files.list("/session/plans");
    assert.deepEqual(others, []);
    assert.ok(entry.path.length < 160 && entry.path.endsWith(".md"));
    dirs.add(entry.path);
    assert.deepEqual(await call(t, session, tools, {}), [{ content: id, status: "pending" }]);
  }
  assert.equal(dirs.size, 8);
});

test("a plan that cannot be written is kept all the same, and told as an event without a host path", async (t) => {
  const host = path.join(tempDir(t), "file");
  fs.writeFileSync(host, "in the way");
  for (const dir of [{ host }, "/elsewhere/plans"]) {
    const h = await withTools(t, { plan: { dir } });
    assert.deepEqual(await h.run("todo_write", { todos: TODOS }), TODOS);
    assert.deepEqual(await h.run("todo_write", {}), TODOS);
    const [event, ...others] = h.events.filter(({ type }) => type === "harness.plan.write_failed");
    assert.deepEqual(others, []);
    assert.equal(event.turnId, h.turn.id);
    assert.match(event.metadata.code, /^FS_/);
    assert.doesNotMatch(JSON.stringify(event), /in the way|project/);
  }
});

test("a list that its file does not hold is not taken back by what the file held before", async (t) => {
  const h = await withTools(t, {}, { quota: { fileBytes: 300 } });
  const first = TODOS.slice(0, 1);
  await h.run("todo_write", { todos: first });
  const longer = Array.from({ length: 30 }, (_, at) => ({ content: `step ${at} of many`, status: "pending" }));
  assert.deepEqual(await h.run("todo_write", { todos: longer }), longer);
  assert.deepEqual(
    h.events.filter(({ type }) => /plan/.test(type)).map(({ metadata }) => metadata.code),
    ["FS_QUOTA_EXCEEDED"],
  );
  assert.match((await h.session.files.read(planPath)).text(), /look around/, "the file is as it was");
  assert.deepEqual(await h.run("todo_write", {}), longer);
});

test("in a Persistent Dir sessions of the same id in several data folders have a file each", async (t) => {
  const source = tempDir(t);
  const dirs = { persistentDirs: [localDir({ harnessDir: "/persistent/plans", sourceDir: source })] };
  const options = { plan: { dir: "/persistent/plans" } };
  for (const todos of [TODOS.slice(0, 1), TODOS.slice(1)]) {
    const h = await withTools(t, options, dirs);
    await h.run("todo_write", { todos });
    assert.deepEqual(await h.run("todo_write", {}), todos);
    assert.equal((await h.turn.finish()).persistence.status, "succeeded");
  }
  const plans = fs.readdirSync(source).filter((name) => name.endsWith(".md"));
  assert.equal(plans.length, 2);
  for (const name of plans) assert.match(name, /^test-[0-9a-f]{12}\.md$/);
});

test("calls at the same time: the last one given stands, in the list and in the file", async (t) => {
  const { run, session } = await withTools(t);
  const lists = Array.from({ length: 20 }, (_, at) => [{ content: `list ${at}`, status: "pending" }]);
  await Promise.all(lists.map((todos) => run("todo_write", { todos })));
  assert.deepEqual(await run("todo_write", {}), lists[19]);
  assert.match((await session.files.read(planPath)).text(), /list 19/);
});

test("too much is refused", async (t) => {
  const { run, session } = await withTools(t);
  const many = Array.from({ length: 201 }, () => ({ content: "x", status: "pending" }));
  await refused(run("todo_write", { todos: many }), "FS_INVALID_OPTION", /at most 200/);
  await refused(
    run("todo_write", { todos: [{ content: "x".repeat(1001), status: "pending" }] }),
    "FS_INVALID_OPTION",
    /1000 characters/,
  );
  const long = Array.from({ length: 60 }, () => ({ content: "x".repeat(1000), status: "pending" }));
  await refused(run("todo_write", { todos: long }), "FS_INVALID_OPTION", /more than 51200 bytes/);
  // Nor does a file that a person made longer.
  const lines = long.map(({ content }) => `- [ ] ${content}`).join("\n");
  await session.files.writeText(planPath, `# Execution Plan\n\n## Task List\n\n${lines}\n`);
  const listed = await run("todo_write", {});
  assert.ok(listed.length > 40 && Buffer.byteLength(JSON.stringify(listed)) <= 51_200);
});
