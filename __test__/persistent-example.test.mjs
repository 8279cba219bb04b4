// docs/persistent-dirs.md runs as it is pasted, and so do the example of memory across sessions and what the README shows of it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { startProgram } from "./support/process.mjs";

const root = path.join(import.meta.dirname, "..");

/** What the page calls yours: kept in a file, so that each program finds what the one before left. */
const DATABASE = `
import fs from "node:fs";
const read = () => JSON.parse(fs.existsSync("database.json") ? fs.readFileSync("database.json", "utf8") : "{}");
export const database = {
  async notesOf(user) {
    return read()[user] ?? { files: {}, revision: 0 };
  },
  async replace(user, contents, deleted, { cursor, commitId }) {
    if (fs.existsSync("down")) throw new Error("down");
    const all = read();
    const notes = (all[user] ??= { files: {}, revision: 0 });
    if (notes.commitId === commitId) return notes.revision;
    if (notes.revision !== cursor) return undefined;
    for (const [name, bytes] of Object.entries(contents)) notes.files[name] = Buffer.from(bytes).toString();
    for (const name of deleted) delete notes.files[name];
    notes.revision++;
    notes.commitId = commitId;
    fs.writeFileSync("database.json", JSON.stringify(all));
    return notes.revision;
  },
};`;

const BUCKET = `
const objects = new Map();
let changes = 0;
function check(key, { ifMatch }) {
  if (objects.get(key)?.etag !== ifMatch) throw Object.assign(new Error("precondition failed"), { status: 412 });
}
export const bucket = {
  objects,
  list: async (prefix) => [...objects].filter(([key]) => key.startsWith(prefix)).map(([key, { etag }]) => ({ key, etag })),
  get: async (key) => objects.get(key).body,
  async put(key, body, options) {
    check(key, options);
    const etag = String(++changes);
    objects.set(key, { body, etag });
    return { etag };
  },
  async delete(key, options) {
    check(key, options);
    objects.delete(key);
  },
};`;

function project(t) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, "node_modules/@little-stack"), { recursive: true });
  fs.symlinkSync(root, path.join(dir, "node_modules/@little-stack/files"));
  fs.mkdirSync(path.join(dir, "policies"));
  fs.writeFileSync(path.join(dir, "policies/style.md"), "Be brief.\n");
  fs.writeFileSync(path.join(dir, "database.mjs"), DATABASE);
  fs.writeFileSync(path.join(dir, "bucket.mjs"), BUCKET);
  return dir;
}

const examples = (page) =>
  [...fs.readFileSync(path.join(root, page), "utf8").matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

async function run(t, dir, code) {
  fs.writeFileSync(path.join(dir, "main.mjs"), code);
  const ended = await startProgram(t, process.execPath, ["main.mjs"], { cwd: dir }).ended;
  assert.equal(ended.code, 0, `${code}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

/** A program with the page's dirs and one session, `user` ada. */
const program = (work) => `
import { localHost } from "@little-stack/files";
import fs from "node:fs";
import { persistentDirs } from "./dirs.mjs";
const extraBody = { user: "ada" };
const host = localHost({ dataDir: ".little-harness", persistentDirs });
const session = await host.sessions.getOrCreate({ id: "chat-42", extraBody, metadata: extraBody });
${work}
await host.close();`;

test("docs/persistent-dirs.md", { timeout: 120_000 }, async (t) => {
  const dir = project(t);
  const [short, local, memory, documents, again, conflict, discard, ...more] = examples("docs/persistent-dirs.md");
  assert.equal(more.length, 0);
  const real = (name) => path.join(dir, ".little-harness", name);

  await t.test("in short", async () => {
    assert.equal(
      await run(t, dir, short),
      "succeeded { created: 1, updated: 0, deleted: 0 }\nsucceeded { created: 0, updated: 1, deleted: 0 }\n",
    );
    assert.equal(fs.readFileSync(real("notes/log.md"), "utf8"), "- monday\n- tuesday\n");
    fs.rmSync(real("."), { recursive: true });
  });

  await t.test("declaring", async () => {
    fs.writeFileSync(path.join(dir, "memory.mjs"), memory);
    fs.writeFileSync(path.join(dir, "documents.mjs"), documents);
    const all = `import { memory } from "./memory.mjs";
import { documents } from "./documents.mjs";
${local.replace("export const persistentDirs = [", "export const persistentDirs = [memory, documents,")}`;
    fs.writeFileSync(path.join(dir, "dirs.mjs"), all);
    const said = await run(
      t,
      dir,
      program(`
const turn = await session.beginTurn();
for (const name of ["team", "user", "memory", "documents"]) await turn.files.writeText(\`/persistent/\${name}/a.md\`, name);
console.log((await turn.files.read("/persistent/policies/style.md")).text().trim());
const { persistence } = await turn.finish();
console.log(persistence.commits.map(({ harnessDir, status, changes }) => [harnessDir, status, changes?.created].join(" ")).join("\\n"));
const { bucket } = await import("./bucket.mjs");
console.log([...bucket.objects.keys()].join());
await session.files.remove("/persistent/documents/a.md");
console.log([...bucket.objects.keys()].length);`),
    );
    assert.equal(
      said,
      `Be brief.
/persistent/memory succeeded 1
/persistent/documents succeeded 1
/persistent/team succeeded 1
/persistent/policies skipped${" "}
/persistent/user succeeded 1
ada/a.md
0
`,
    );
    assert.equal(fs.readFileSync(real("team/a.md"), "utf8"), "team");
    assert.equal(fs.readFileSync(real("users/ada/a.md"), "utf8"), "user");
    assert.equal(JSON.parse(fs.readFileSync(path.join(dir, "database.json"), "utf8")).ada.files["a.md"], "memory");
    fs.writeFileSync(path.join(dir, "dirs.mjs"), all.replace("[memory, documents,", "[memory,")); // in no process's memory
  });

  await t.test("try again", async () => {
    fs.writeFileSync(path.join(dir, "down"), "");
    const failing = `
const turn = await session.beginTurn();
await turn.files.writeText("/persistent/memory/b.md", "b");
console.log((await turn.finish()).persistence.status);`;
    assert.equal(await run(t, dir, program(failing)), "failed\n");
    assert.match(
      await run(t, dir, again),
      /^chat-42 \/persistent\/memory \[FS_COMMIT_FAILED\] .*\nchat-42 created \/persistent\/memory\/b\.md \S+ 2\n$/,
    );
    fs.rmSync(path.join(dir, "down"));
    assert.equal(await run(t, dir, again), "");
    assert.equal(JSON.parse(fs.readFileSync(path.join(dir, "database.json"), "utf8")).ada.files["b.md"], "b");
  });

  await t.test("decide a conflict", async () => {
    const both = `
const turn = await session.beginTurn();
await turn.files.writeText("/persistent/team/a.md", "ours\\n");
await turn.files.remove("/persistent/user/a.md");
fs.writeFileSync(".little-harness/team/a.md", "theirs\\n");
fs.writeFileSync(".little-harness/users/ada/a.md", "theirs\\n");
const { persistence } = await turn.finish();
console.log(persistence.failedCommits.map(({ error }) => error.code).join());`;
    assert.equal(await run(t, dir, program(both)), "FS_CONFLICT,FS_CONFLICT\n");
    assert.equal(await run(t, dir, conflict), "succeeded\n");
    assert.equal(fs.readFileSync(real("team/a.md"), "utf8"), "theirs\nours\n");
    assert.equal(fs.readFileSync(real("users/ada/a.md"), "utf8"), "theirs\n");
  });

  await t.test("give up", async () => {
    const leaving = `
const turn = await session.beginTurn();
for (const name of ["team/drafts/x.md", "team/drafts/deep/y.md", "user/todo.md", "user/a.md"])
  await turn.files.writeText("/persistent/" + name, "ours");
await turn.abort();
console.log((await session.persistence.pending()).length);`;
    assert.equal(await run(t, dir, program(leaving)), "4\n");
    assert.equal(await run(t, dir, discard), "[]\n");
    const said = await run(
      t,
      dir,
      program(`
console.log((await session.files.list("/persistent", { recursive: true })).filter(({ kind }) => kind === "file").map(({ path }) => path).join());
console.log((await session.files.read("/persistent/user/a.md")).text().trim());`),
    );
    assert.equal(
      said,
      "/persistent/memory/a.md,/persistent/memory/b.md,/persistent/policies/style.md,/persistent/team/a.md,/persistent/user/a.md\ntheirs\n",
    );
  });
});

test("README.md: files that outlive the session", { timeout: 60_000 }, async (t) => {
  const dir = project(t);
  const code = examples("README.md").find((each) => each.includes("persistentDirs"));
  assert.equal(await run(t, dir, code), "succeeded 1\n");
  assert.equal(fs.readFileSync(path.join(dir, ".little-harness/notes/ada.md"), "utf8"), "Answers in French.\n");
});

test("examples/memory-across-sessions.mjs", { timeout: 60_000 }, async (t) => {
  const example = path.join(root, "examples/memory-across-sessions.mjs");
  const ended = await startProgram(t, process.execPath, [example], { cwd: tempDir(t) }).ended;
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  assert.equal(ended.stderr, "");
  assert.match(ended.stdout, /All 11 checks passed\.\n$/);
});
