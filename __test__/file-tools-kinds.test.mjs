// Files of every kind before the tools: binary, other encodings, pictures, pipes, folders of 200,000, and one that grows.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fifo, link, plant } from "./support/tree.mjs";
import { parted, refused, withTools } from "./support/file-tools.mjs";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
const PDF = Buffer.from("%PDF-1.4\n%âãÏÓ\n", "latin1");

const notText = {
  "a NUL at the start": [Buffer.from("a\0b"), /binary/],
  "bytes of every value": [Buffer.from(Array.from({ length: 256 }, (_, at) => at)), /binary/],
  "UTF-16": [Buffer.from("\ufeffhello", "utf16le"), /UTF-16/],
  "Latin-1": [Buffer.from("caf\u00e9 au lait", "latin1"), /Latin-1/],
  "not UTF-8 past 8 KiB": [Buffer.from(`${`${"x".repeat(99)}\n`.repeat(90)}\u00ff`, "latin1"), undefined],
};
for (const [name, [bytes, message]] of Object.entries(notText)) {
  test(`not text: ${name}`, async (t) => {
    const { run, roots } = await withTools(t);
    fs.writeFileSync(path.join(roots.session, "f"), bytes);
    await refused(run("read", { file_path: "/session/f" }), "FS_NOT_TEXT", message);
    await refused(run("edit", { file_path: "/session/f", old_string: "x", new_string: "y" }), "FS_NOT_OBSERVED");
  });
}

test("a NUL past 8 KiB: read and edited alike", async (t) => {
  const { run, roots } = await withTools(t);
  fs.writeFileSync(path.join(roots.session, "f"), `${"x\n".repeat(8192)}a\0b\n`);
  const { status } = parted(await run("read", { file_path: "/session/f", offset: 8190 }));
  assert.equal(status, "Lines 8190-8193 of 8193; end of file");
  await run("edit", { file_path: "/session/f", old_string: "a\0b", new_string: "text" });
  assert.equal(fs.readFileSync(path.join(roots.session, "f"), "utf8").slice(-5), "text\n");
});

for (const [name, bytes, mediaType] of [
  ["a.png", PNG, "image/png"],
  ["a.bin", PNG, "image/png"],
  ["a.pdf", PDF, "application/pdf"],
]) {
  test(`${name} is shown as ${mediaType}`, async (t) => {
    const { run, roots } = await withTools(t);
    fs.writeFileSync(path.join(roots.session, name), bytes);
    const file_path = `/session/${name}`;
    assert.deepEqual(await run("read", { file_path }), {
      type: "harness.file_attachment",
      path: file_path,
      mediaType,
      bytes: bytes.length,
      data: bytes.toString("base64"),
    });
    await refused(run("read", { file_path, byte_offset: 0 }), "FS_NOT_TEXT", /Read it without byte_offset/);
    await refused(run("edit", { file_path, old_string: "P", new_string: "y" }), "FS_NOT_TEXT");
    await run("write", { file_path, content: "seen, so it may be replaced" });
  });
}

test("a picture over 8 MiB is too large", async (t) => {
  const { run, roots } = await withTools(t);
  fs.writeFileSync(path.join(roots.session, "big.png"), Buffer.concat([PNG, Buffer.alloc(8 * 1024 * 1024)]));
  const { message } = await refused(run("read", { file_path: "/session/big.png" }), "FS_TOO_LARGE", /at most 8388608/);
  assert.doesNotMatch(message, /maxBytes|readStream/); // no model has these
});

test("a pipe is refused at once, by every tool", { timeout: 20_000 }, async (t) => {
  const { run, roots } = await withTools(t, { observation: false });
  plant(roots.session, { p: fifo(), "to-p": link("p") });
  for (const file_path of ["/session/p", "/session/to-p"]) {
    await refused(run("read", { file_path }), "FS_NOT_REGULAR_FILE");
    await refused(run("read", { file_path, byte_offset: 0 }), "FS_NOT_REGULAR_FILE");
    await refused(run("query", { file_path, jsonpath: "$" }), "FS_NOT_REGULAR_FILE");
    await refused(run("grep", { path: file_path, pattern: "x" }), "FS_NOT_REGULAR_FILE");
    await assert.rejects(run("write", { file_path, content: "x" }));
    await assert.rejects(run("edit", { file_path, old_string: "x", new_string: "y" }));
  }
  assert.match(await run("grep", { pattern: "x" }), /^No match in 0 files/);
  assert.match(await run("list", { path: "/session" }), /\/session\/p {2}neither file nor folder/);
});

test("a folder in the place of a file is told as one", async (t) => {
  const { run, roots } = await withTools(t);
  plant(roots.session, { "dir/x": "", p: fifo() });
  for (const file_path of ["/session/dir", "/session/p"]) {
    await refused(run("write", { file_path, content: "x" }), "FS_NOT_REGULAR_FILE");
  }
  const error = await refused(run("remove", { path: "/session/dir" }), "FS_NOT_REGULAR_FILE");
  assert.equal(error.message.match(/recursive/g).length, 1);
});

test("links that leave the root are refused; a write onto a link is, too", async (t) => {
  const { run, roots, outside } = await withTools(t, { observation: false });
  plant(outside, { "secret.txt": "secret" });
  plant(roots.session, { out: link(outside), in: link("real.txt"), "real.txt": "x" });
  await assert.rejects(run("read", { file_path: "/session/out/secret.txt" }));
  assert.match(await run("read", { file_path: "/session/in" }), /^x\n/);
  await refused(run("write", { file_path: "/session/in", content: "y" }), "FS_SANDBOX_DENIED");
  await refused(run("edit", { file_path: "/session/in", old_string: "x", new_string: "y" }), "FS_SANDBOX_DENIED");
  assert.doesNotMatch(await run("grep", { pattern: "secret" }), /secret\.txt/);
});

test("a file that grows while it is read is shown as it was when it was opened", async (t) => {
  const { run, roots } = await withTools(t);
  const file = path.join(roots.session, "log");
  fs.writeFileSync(file, "x\n".repeat(1000));
  let going = true;
  const grow = (async () => {
    while (going) {
      fs.appendFileSync(file, "x\n".repeat(50));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  })();
  for (let at = 0, before = 1000; at < 30; at++) {
    const { status } = parted(await run("read", { file_path: "/session/log", limit: 1 }));
    const total = Number(/of (\d+)/.exec(status)[1]);
    assert.ok(total >= before, status);
    before = total;
  }
  going = false;
  await grow;
});

test("a folder of 200,000 files is listed, globbed and searched page by page", { timeout: 240_000 }, async (t) => {
  const { run, roots } = await withTools(t);
  const folder = path.join(roots.session, "many");
  fs.mkdirSync(folder);
  const count = 200_000;
  const first = path.join(folder, "000000");
  fs.writeFileSync(first, "x");
  // Links to one file are made much faster than files; some file systems allow only so many to each.
  for (let at = 1, from = first; at < count; at++) {
    const name = path.join(folder, String(at).padStart(6, "0"));
    if (at % 30_000 === 0) fs.writeFileSync((from = name), "x");
    else fs.linkSync(from, name);
  }
  const { text, status } = parted(await run("list", { path: "/session/many" }));
  const shown = text.split("\n").length;
  assert.equal(status, `Entries 0-${shown - 1} of ${count}; continue with offset: ${shown}`);
  const middle = parted(await run("list", { path: "/session/many", offset: 123_456, limit: 2 }));
  assert.match(middle.text, /^\/session\/many\/123456 .*\n\/session\/many\/123457 /);
  assert.match(await run("glob", { pattern: "**/1999*" }), /\n\n100 in all$/);
});
