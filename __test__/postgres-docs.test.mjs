// The PostgreSQL part of docs/stores.md runs as it is pasted, and so does the example of two machines. Its SQL is in
// postgres-schema.test.mjs and postgres-changes.test.mjs.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";
import { startProgram } from "./support/process.mjs";

const root = path.join(import.meta.dirname, "..");
const suite = await postgresSuite();
const cases = suite === undefined ? () => {} : test;

cases("the example of the page", async (t) => {
  const page = fs.readFileSync(path.join(root, "docs/stores.md"), "utf8");
  const [, pasted] = /\n## PostgreSQL\n\n```js\n([^]*?)```/.exec(page);
  const data = path.join(tempDir(t), "data");
  const program = `${pasted.replace('".little-harness"', JSON.stringify(data))}
    const session = await host.sessions.getOrCreate({ id: "chat", extraBody: { userId: "ada" } });
    await session.files.writeText("/persistent/user/notes.md", "hello");
    await host.close();
    await pool.end();`;
  const args = ["--input-type=module", "-e", program];
  const { code, stderr } = await startProgram(t, process.execPath, args, {
    cwd: root,
    env: { DATABASE_URL: suite.server.url },
  }).ended;
  assert.equal(code, 0, stderr);
  const { rows } = await suite.pool.query("SELECT scope, path FROM harness_files");
  assert.deepEqual(rows, [{ scope: "user/ada", path: "notes.md" }]);
});

cases("two machines", { timeout: 120_000 }, async (t) => {
  const args = ["examples/two-machines.mjs", "postgres"];
  const { code, stdout, stderr } = await startProgram(t, process.execPath, args, {
    cwd: root,
    env: { DATABASE_URL: suite.server.url },
  }).ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /All 11 checks passed/);
});
