// The entry "./pi": file operations that never throw, and the two hooks.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { piHooks } from "@little-stack/files/pi";
import { fifo, leftovers, link, plant } from "./support/tree.mjs";
import { fails, ok, withPi } from "./support/pi.mjs";
import { sleep } from "./support/process.mjs";
import { begin } from "./support/turns.mjs";

test("files are written, read, added to, moved and removed", async (t) => {
  const { pi, roots } = await withPi(t);
  await ok(pi.writeFile("a/b.txt", "one\r\ntwo\nthree"));
  assert.equal(fs.readFileSync(path.join(roots.session, "a/b.txt"), "utf8"), "one\r\ntwo\nthree");
  assert.equal(await ok(pi.readTextFile("/session/a/b.txt")), "one\r\ntwo\nthree");
  assert.deepEqual(await ok(pi.readTextLines("a/b.txt", 2)), ["one", "two"]);
  assert.deepEqual(await ok(pi.readTextLines("a/b.txt", 9)), ["one", "two", "three"]);
  assert.deepEqual(await ok(pi.readTextLines("a/b.txt", 0)), []);
  assert.deepEqual(await ok(pi.readBinaryFile("a/b.txt")), new Uint8Array(Buffer.from("one\r\ntwo\nthree")));
  await ok(pi.appendFile("a/b.txt", "\nfour"));
  await ok(pi.appendFile("a/new.txt", new Uint8Array([1, 2])));
  assert.deepEqual(await ok(pi.readBinaryFile("a/new.txt")), new Uint8Array([1, 2]));
  await ok(pi.renameFile("a/b.txt", "c/d.txt"));
  assert.equal(await ok(pi.exists("a/b.txt")), false);
  assert.equal(await ok(pi.readTextFile("c/d.txt")), "one\r\ntwo\nthree\nfour");
  await ok(pi.remove("c/d.txt"));
  await ok(pi.remove("c/d.txt", { force: true }));
  assert.deepEqual(
    (await ok(pi.listDir("/session"))).map(({ name, kind }) => [name, kind]),
    [
      ["a", "directory"],
      ["c", "directory"],
    ],
  );
  await ok(pi.remove("a", { recursive: true }));
  assert.equal(await ok(pi.exists("a")), false);
});

test("a file that is moved onto itself stays, whatever the spelling; a folder is never moved onto", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, { "d/a.txt": "abc", link: link("d") });
  for (const to of ["d/a.txt", "/session/d//./a.txt", "link/a.txt"]) {
    await ok(pi.renameFile("d/a.txt", to));
    assert.equal(await ok(pi.readTextFile("d/a.txt")), "abc", to);
  }
  await fails(pi.renameFile("d/a.txt", "d"), "is_directory");
  assert.equal(await ok(pi.readTextFile("d/a.txt")), "abc");
});

test("lines end at LF, CRLF and CR, however the file comes in; a long one costs its length once", async (t) => {
  const { pi, session } = await withPi(t);
  const chunk = (text) => Buffer.from(text);
  const cut = [chunk("one\r"), chunk("\ntwo\rthr"), chunk("ee\n\n"), chunk("\r")];
  await session.files.write("/session/a", cut);
  for (const [name, lines] of [
    ["a", ["one", "two", "three", "", ""]],
    ["b", []],
  ]) {
    if (name === "b") await ok(pi.writeFile(name, ""));
    assert.deepEqual(await ok(pi.readTextLines(name)), lines);
    assert.deepEqual(await ok(pi.readTextLines(name, { maxLines: 2 })), lines.slice(0, 2));
  }
  const long = "é".repeat(16 * 1024 * 1024);
  await ok(pi.writeFile("long", `${long}\r\nend`));
  assert.deepEqual((await ok(pi.readTextLines("long", 1)))[0] === long, true);
});

test("a signal that is aborted gives aborted, and nothing is changed", async (t) => {
  const { pi, session } = await withPi(t);
  await ok(pi.writeFile("a", "abc"));
  const signal = AbortSignal.abort();
  for (const call of [
    pi.absolutePath("a", signal),
    pi.joinPath(["a"], signal),
    pi.canonicalPath("a", signal),
    pi.readTextFile("a", signal),
    pi.readTextLines("a", { abortSignal: signal }),
    pi.readBinaryFile("a", signal),
    pi.writeFile("a", "x", signal),
    pi.appendFile("a", "x", signal),
    pi.renameFile("a", "b", signal),
    pi.fileInfo("a", signal),
    pi.listDir("/session", signal),
    pi.exists("a", signal),
    pi.createDir("d", { abortSignal: signal }),
    pi.remove("a", { abortSignal: signal }),
  ])
    await fails(call, "aborted");
  await fails(pi.readTextFile("a", "no signal"), "invalid");
  assert.equal(await ok(pi.readTextFile("a")), "abc");
  assert.equal((await session.files.list("/session")).length, 1);
});

test("what is there is described, a link for itself", async (t) => {
  const { pi, roots } = await withPi(t);
  plant(roots.session, { "a.txt": "abc", "dir/x": "", link: link("a.txt"), p: fifo() });
  const { mtimeMs, ...info } = await ok(pi.fileInfo("a.txt"));
  assert.deepEqual(info, { name: "a.txt", path: "/session/a.txt", kind: "file", size: 3 });
  assert.ok(Math.abs(mtimeMs - fs.statSync(path.join(roots.session, "a.txt")).mtimeMs) < 2);
  assert.equal((await ok(pi.fileInfo("dir"))).kind, "directory");
  assert.equal((await ok(pi.fileInfo("link"))).kind, "symlink");
  await fails(pi.fileInfo("p"), "invalid");
  await fails(pi.fileInfo("none"), "not_found");
});

test("folders and temporary files", async (t) => {
  const { pi, roots, dataDir } = await withPi(t);
  await ok(pi.createDir("x/y/z"));
  await ok(pi.createDir("x/y/z/"));
  plant(roots.session, { link: link("x") });
  for (const there of ["x/y/z", "", ".", "/session", "/artifacts/", "link"]) await ok(pi.createDir(there));
  assert.deepEqual(fs.readdirSync(path.join(roots.session, "x/y/z")), []);
  const [one, two] = [await ok(pi.createTempDir()), await ok(pi.createTempDir())];
  assert.notEqual(one, two);
  assert.equal((await ok(pi.fileInfo(one))).kind, "directory");
  const file = await ok(pi.createTempFile());
  assert.deepEqual((await ok(pi.fileInfo(file))).size, 0);
  assert.deepEqual(leftovers(dataDir), []);
});

test("eight codes, and nothing is thrown", async (t) => {
  const { pi, roots, session } = await withPi(t);
  plant(roots.session, { "a.txt": "abc", "dir/x": "", p: fifo(), link: link("a.txt"), dangling: link("none") });
  for (const name of ["link", "dangling"]) {
    await fails(pi.writeFile(name, "x"), "permission_denied");
    await fails(pi.appendFile(name, "x"), "permission_denied");
  }
  await fails(pi.readTextFile("none"), "not_found");
  await fails(pi.readTextFile("dir"), "is_directory");
  await fails(pi.writeFile("dir", "x"), "is_directory");
  await fails(pi.appendFile("dir", "x"), "is_directory");
  await fails(pi.remove("dir"), "is_directory");
  await fails(pi.readTextFile("p"), "invalid");
  await fails(pi.listDir("a.txt"), "not_directory");
  await fails(pi.createDir("a.txt/x"), "not_directory");
  await fails(pi.readTextFile("/etc/passwd"), "permission_denied");
  await fails(pi.remove("/session", { recursive: true }), "permission_denied");
  await fails(pi.readTextFile("../x"), "invalid");
  await fails(pi.readTextFile(5), "invalid");
  await fails(pi.writeFile("a.txt", 5), "invalid");
  await fails(pi.readTextLines("a.txt", -1), "invalid");
  fs.writeFileSync(path.join(roots.session, "large"), "");
  fs.truncateSync(path.join(roots.session, "large"), 2 ** 29 + 1); // more than is read at once, and nothing on the disk
  await fails(pi.readTextFile("large"), "invalid");
  await fails(pi.renameFile("dir", "other"), "not_supported");
  await fails(pi.renameFile("none", "other"), "not_found");
  await fails(pi.exists(undefined), "invalid");
  await session.close();
  await fails(pi.readTextFile("a.txt"), "unknown");
  await fails(pi.createTempFile(), "unknown");
});

test("of thirty who append at once none is lost", async (t) => {
  const { pi } = await withPi(t);
  await Promise.all(Array.from({ length: 30 }, (_, at) => ok(pi.appendFile("log", `${at}\n`))));
  const lines = (await ok(pi.readTextFile("log"))).trimEnd().split("\n").map(Number);
  assert.deepEqual(
    lines.toSorted((a, b) => a - b),
    Array.from({ length: 30 }, (_, at) => at),
  );
});

async function withHooks(t, options) {
  const h = await withPi(t, options);
  const turn = await begin(t, h.session);
  const hooks = piHooks(turn.context);
  const toolCall = (toolName, input) => hooks.toolCall({ type: "tool_call", toolCallId: "c", toolName, input });
  const toolResult = (toolName, content, more) =>
    hooks.toolResult({
      type: "tool_result",
      toolCallId: "call-1",
      toolName,
      input: {},
      content,
      isError: false,
      details: undefined,
      ...more,
    });
  return { ...h, turn, toolCall, toolResult };
}

test("tool_call: writes that leave the roots, unseen and stale ones are blocked", async (t) => {
  const { toolCall, toolResult, roots } = await withHooks(t);
  const file = path.join(roots.session, "a.txt");
  assert.match(
    (await toolCall("write", { path: "/etc/passwd", content: "x" })).reason,
    /^\[FS_SANDBOX_DENIED\].*managed root/,
  );
  assert.match((await toolCall("edit", { path: "../x" })).reason, /traversal/);
  assert.match((await toolCall("write", {})).reason, /^\[FS_INVALID_PATH\]/);
  assert.equal(await toolCall("write", { path: "new.txt", content: "x" }), undefined);
  assert.equal(await toolCall("bash", { command: "rm -rf /" }), undefined);
  fs.writeFileSync(file, "one");
  const unseen = await toolCall("write", { path: "a.txt" });
  assert.equal(unseen.block, true);
  assert.match(unseen.reason, /^\[FS_NOT_OBSERVED\] .*Read the file first, then retry/);
  assert.equal(await toolCall("read", { path: "a.txt" }), undefined);
  assert.equal(await toolCall("write", { path: "a.txt" }), undefined);
  fs.writeFileSync(file, "another");
  assert.match(
    (await toolCall("edit", { file_path: "/session/a.txt" })).reason,
    /^\[FS_STALE_VERSION\] .*Read the file again/,
  );
  await toolCall("read", { path: "a.txt" });
  assert.equal(await toolCall("edit", { path: "a.txt" }), undefined);
  fs.writeFileSync(file, "by the tool");
  await toolResult("edit", [{ type: "text", text: "ok" }], { input: { path: "a.txt" } });
  await sleep(100); // what was seen right after a change is the same later on
  assert.equal(await toolCall("edit", { path: "a.txt" }), undefined);
  assert.equal(await toolCall("read", { path: "/etc/passwd" }), undefined);
});

test("tool_call: a file is the same by every link to it; a folder is told as one", async (t) => {
  const { toolCall, session, roots } = await withHooks(t);
  await session.files.writeText("/session/d/a.txt", "one");
  plant(roots.session, { link: link("d") });
  for (const [read, edited] of [
    ["link/a.txt", "d/a.txt"],
    ["d/a.txt", "link/a.txt"],
  ]) {
    await toolCall("read", { path: read });
    assert.equal(await toolCall("edit", { path: edited }), undefined);
  }
  assert.match((await toolCall("write", { path: "d" })).reason, /^\[FS_NOT_REGULAR_FILE\] Is a folder/);
});

test("tool_result: what cannot be stored is shortened where the host wants that", async (t) => {
  const quota = { sessionBytes: 1000 };
  const { toolResult } = await withHooks(t, { quota, offload: { onOffloadError: "inline" } });
  const given = await toolResult("bash", [{ type: "text", text: "x".repeat(50_000) }], { details: { exitCode: 0 } });
  assert.match(JSON.parse(given.content[0].text).message, /FS_QUOTA_EXCEEDED/);
  assert.ok(given.content[0].text.length <= 16_384);
  assert.deepEqual(given.details, { exitCode: 0 });
  const strict = await withHooks(t, { quota });
  await assert.rejects(strict.toolResult("bash", [{ type: "text", text: "x".repeat(50_000) }]), {
    code: "FS_QUOTA_EXCEEDED",
  });
});

test("tool_result: texts that are too large go to a file; pictures and small ones stay", async (t) => {
  const { toolResult, session } = await withHooks(t);
  assert.equal(await toolResult("bash", [{ type: "text", text: "small" }]), undefined);
  const picture = { type: "image", data: "aGk=", mimeType: "image/png" };
  const long = "x".repeat(50_000);
  const given = await toolResult("bash", [{ type: "text", text: long }, picture], { details: { exitCode: 0 } });
  assert.equal(given.content.length, 2);
  assert.equal(given.content[1], picture);
  const { file, exitCode } = given.details;
  assert.deepEqual([exitCode, JSON.parse(given.content[0].text)], [0, file]);
  assert.equal(file.path, "/artifacts/tool-results/bash/call-1.txt");
  assert.equal((await session.files.read(file.path)).text(), long);
  assert.ok(given.content[0].text.length <= 16_384);
  assert.equal(await toolResult("read", [{ type: "text", text: long }]), undefined);
  assert.equal(await toolResult("bash", [{ type: "text", text: long }], { isError: true }), undefined);
  assert.equal(await toolResult("bash", undefined), undefined);
  assert.equal(await toolResult("bash", [picture]), undefined);
});
