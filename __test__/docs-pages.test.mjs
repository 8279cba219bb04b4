// What no other suite runs of the README and the pages: each example works pasted into an empty file, and says what the page says.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { startProgram } from "./support/process.mjs";

const root = path.join(import.meta.dirname, "..");

const examples = (page) =>
  [...fs.readFileSync(path.join(root, page), "utf8").matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

async function run(t, code) {
  const cwd = tempDir(t);
  fs.mkdirSync(path.join(cwd, "node_modules/@little-stack"), { recursive: true });
  fs.symlinkSync(root, path.join(cwd, "node_modules/@little-stack/files"));
  fs.writeFileSync(path.join(cwd, "main.mjs"), code);
  const ended = await startProgram(t, process.execPath, ["main.mjs"], { cwd }).ended;
  assert.equal(ended.code, 0, `${code}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

const pages = {
  "docs/files.md": [
    /^\/session\/data\/in\.csv 18 [0-9a-f]{64} text\/csv\n$/,
    /^FS_STALE_VERSION\n$/,
    /^Report # Report\n\n$/,
  ],
  "docs/errors.md": [/^FS_NOT_FOUND \/session\/none\.txt \[FS_NOT_FOUND\] .*\(ENOENT\)\n$/],
  "docs/events.md": [
    /^harness\.file\.created \/session\/notes\.txt\n.*harness\.file\.deleted \/session\/notes\.txt\nMap\(3\) \{.*\}\n$/s,
    /^\{ available: false, reason: 'redacted' \} \{ customerId: '\[redacted\]' \}\n/,
  ],
};

for (const [page, expected] of Object.entries(pages)) {
  test(page, { timeout: 60_000 }, async (t) => {
    const codes = examples(page);
    assert.equal(codes.length, expected.length);
    for (const [at, code] of codes.entries()) assert.match(await run(t, code), expected[at]);
  });
}

test("README.md: the first example, and the tools for the model", { timeout: 60_000 }, async (t) => {
  const codes = examples("README.md");
  assert.match(await run(t, codes[0]), /path: '\/session\/user-input\/sales\.csv'.*\[FS_INVALID_PATH\] [^\n]*\n$/s);
  const tools = codes.find((code) => code.includes("/files/tools"));
  assert.match(await run(t, tools), /^\[FS_NOT_OBSERVED\] .*\nport = 8080\n\nLines 1-1 of 1; end of file\n.*\n$/);
});
