// The pages about turns and the AI SDK, and what the README shows of it: every example runs as it is pasted, on each version of
// the SDK; so does the example chat.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { startProgram } from "./support/process.mjs";

const root = path.join(import.meta.dirname, "..");

const MODEL = `
import { Mock, usage, reason } from "./version.mjs";
const calls = [["write_report", { title: "t", text: "x" }], ["query_accounts", {}]];
let step = 0;
function next({ tools }) {
  const mine = calls.filter(([name]) => tools.some((tool) => tool.name === name));
  const call = mine[step++ % (mine.length + 1)];
  if (call === undefined) return [{ type: "text", text: "done" }, reason("stop")];
  return [{ type: "tool-call", toolCallId: "call_" + step, toolName: call[0], input: JSON.stringify(call[1]) }, reason("tool-calls")];
}
export const model = new Mock({
  doGenerate: async (options) => { const [part, finishReason] = next(options); return { content: [part], finishReason, usage, warnings: [] }; },
  doStream: async (options) => {
    const [part, finishReason] = next(options);
    const parts = part.type === "text" ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }] : [part];
    const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }];
    return { stream: new ReadableStream({ start(c) { for (const each of all) c.enqueue(each); c.close(); } }) };
  },
});`;

const VERSION = (version) => `
import * as mocks from "ai/test";
export const Mock = mocks.MockLanguageModelV${version - 3};
export const usage = ${version === 5 ? "{ inputTokens: 1, outputTokens: 1, totalTokens: 2 }" : "{ inputTokens: { total: 1 }, outputTokens: { total: 1 } }"};
export const reason = (unified) => (${version === 5 ? "unified" : "{ unified, raw: unified }"});`;

/** Where the SDK is called "ai", as in an app. */
function project(t, version) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, "node_modules/@little-stack"), { recursive: true });
  fs.symlinkSync(root, path.join(dir, "node_modules/@little-stack/files"));
  fs.symlinkSync(path.join(root, `node_modules/ai${version}`), path.join(dir, "node_modules/ai"));
  fs.symlinkSync(path.join(root, "node_modules/zod"), path.join(dir, "node_modules/zod"));
  fs.writeFileSync(path.join(dir, "model.mjs"), MODEL);
  fs.writeFileSync(path.join(dir, "version.mjs"), VERSION(version));
  return dir;
}

const examples = (page) =>
  [...fs.readFileSync(path.join(root, page), "utf8").matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

async function run(t, dir, code, args = []) {
  fs.writeFileSync(path.join(dir, "main.mjs"), code);
  const {
    code: exit,
    stdout,
    stderr,
  } = await startProgram(t, process.execPath, ["main.mjs", ...args], { cwd: dir }).ended;
  assert.equal(exit, 0, `${code}\n${stdout}${stderr}`);
  return stdout;
}

for (const version of [5, 6, 7]) {
  test(`docs/ai-sdk.md on AI SDK ${version}`, { timeout: 60_000 }, async (t) => {
    const dir = project(t, version);
    const [tools, atOnce, streamed, hook, client, ...more] = examples("docs/ai-sdk.md");
    assert.equal(more.length, 0);
    fs.writeFileSync(path.join(dir, "tools.mjs"), tools);
    const answered = await run(t, dir, atOnce);
    assert.match(answered, /text: 'done'/);
    assert.match(answered, /acme\.md/);
    assert.match(answered, /tool-results\/query_accounts\/call_2\.json/);
    const parts = [{ type: "file", mediaType: "text/csv", filename: "a.csv", url: "data:text/csv,a" }];
    const body = JSON.stringify({ id: "web", messages: [{ id: "m1", role: "user", parts }] });
    const call = `${streamed}
for (const round of [1, 2]) {
  const response = await POST(new Request("http://localhost/chat", { method: "POST", body: ${JSON.stringify(body)} }));
  const text = await response.text();
  if (!text.includes("harness.tool_result_file")) throw new Error(text);
}
const session = await host.sessions.getOrCreate({ id: "web" });
const { state, stagedMessageIds } = await session.status();
console.log(state, stagedMessageIds.join());
await host.close();`;
    assert.match(await run(t, dir, call), /^done\ndone\nidle m1\n$/);
    assert.match(await run(t, dir, hook), /- \/session\/inbox\/[0-9a-f-]{36}\/sales\.csv \(18 bytes, text\/csv\)/);
    assert.match(await run(t, dir, `${client}\nconsole.log(shown([1]))`), /^\[1\]\n$/);
  });

  test(`README.md on AI SDK ${version}`, { timeout: 60_000 }, async (t) => {
    const dir = project(t, version);
    const url = "data:text/csv,name%2Camount";
    const parts = [{ type: "file", mediaType: "text/csv", filename: "sales.csv", url }];
    const transcript = JSON.stringify([{ id: "m1", role: "user", parts }]);
    fs.writeFileSync(
      path.join(dir, "chat.mjs"),
      `export { model } from "./model.mjs";\nexport const transcript = ${transcript};`,
    );
    const [, code] = examples("README.md");
    assert.match(await run(t, dir, code), /^done \[ '\/artifacts\/report\.md' \]\n$/);
  });

  test(`the example chat on AI SDK ${version}`, { timeout: 60_000 }, async (t) => {
    const { code, stdout, stderr } = await startProgram(
      t,
      process.execPath,
      ["examples/ai-sdk-chat.mjs", String(version)],
      { cwd: root },
    ).ended;
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /All \d+ checks passed\.\n$/);
  });
}

test("docs/turns-and-tools.md", { timeout: 60_000 }, async (t) => {
  const dir = project(t, 6);
  const expected = [
    /written: \[ '\/session\/notes\.md' \]/,
    /^text of \/session\/a\.txt\nThat file is private\.\n$/,
    /4,096 bytes/,
    /path: '\/session\/now\.txt'/,
  ];
  const codes = examples("docs/turns-and-tools.md");
  assert.equal(codes.length, expected.length);
  for (const [at, code] of codes.entries()) assert.match(await run(t, dir, code), expected[at]);
});
