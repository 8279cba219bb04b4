// docs/tools.md and the example of a coding agent run as they stand.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { startProgram } from "./support/process.mjs";

const root = path.join(import.meta.dirname, "..");
const MODEL = `
import { MockLanguageModelV4 } from "ai/test";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const calls = [["write", { file_path: "/session/a.txt", content: "one" }], ["read_file", { file_path: "/session/a.txt" }]];
let step = 0;
export const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const call = calls[step++];
    const content = call ? { type: "tool-call", toolCallId: String(step), toolName: call[0], input: JSON.stringify(call[1]) } : { type: "text", text: "done" };
    const unified = call ? "tool-calls" : "stop";
    return { content: [content], finishReason: { unified, raw: unified }, usage, warnings: [] };
  },
});`;

const expected = [
  /^done \{\n {2}read: \[ '\/session\/a\.txt' \],\n {2}written: \[ '\/session\/a\.txt' \],\n {2}edited: \[\],\n {2}removed: \[\]\n\}\n$/,
  /^read,query,write,edit,list,glob,grep,remove,todo_write\n$/,
  /-port = 1\n\+port = 2\n\nFS_STALE_VERSION\n$/,
  /^\{ ok: true, value: 'relative paths are below \/session\\n' \} not_found\n$/,
];
const page = fs.readFileSync(path.join(root, "docs/tools.md"), "utf8");
const examples = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

test("every example of docs/tools.md", { timeout: 60_000 }, async (t) => {
  assert.equal(examples.length, expected.length);
  const cwd = tempDir(t);
  fs.mkdirSync(path.join(cwd, "node_modules/@little-stack"), { recursive: true });
  fs.symlinkSync(root, path.join(cwd, "node_modules/@little-stack/files"));
  fs.symlinkSync(path.join(root, "node_modules/ai7"), path.join(cwd, "node_modules/ai"));
  fs.writeFileSync(path.join(cwd, "model.mjs"), MODEL);
  for (const [at, code] of examples.entries()) {
    fs.writeFileSync(path.join(cwd, "main.mjs"), code);
    const end = await startProgram(t, process.execPath, ["main.mjs"], { cwd }).ended;
    assert.equal(end.code, 0, `${code}\n${end.stdout}${end.stderr}`);
    assert.match(end.stdout, expected[at]);
  }
});

for (const version of [5, 6, 7]) {
  test(`the coding agent on AI SDK ${version}`, { timeout: 120_000 }, async (t) => {
    const program = ["examples/coding-agent.mjs", String(version)];
    const { code, stdout, stderr } = await startProgram(t, process.execPath, program, { cwd: root }).ended;
    assert.equal(code, 0, stdout + stderr);
    for (const refusal of ["FS_NOT_OBSERVED", "FS_STALE_VERSION"]) assert.match(stdout, new RegExp(`\\[${refusal}\\]`));
    assert.match(stdout, /All \d+ checks passed\.\n$/);
  });
}
