// AI SDK 7's sandbox over the files of a session.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai7 from "ai7";
import { sandboxFiles } from "@little-stack/files/tools";
import { fifo, link, plant } from "./support/tree.mjs";
import { rejectsWith, withHost } from "./support/host.mjs";
import { scripted, toolOutputs, untilDone, versions } from "./support/ai-sdk.mjs";

async function withSandbox(t) {
  const h = await withHost(t);
  return { ...h, sandbox: sandboxFiles(await h.host.sessions.getOrCreate({ id: "test" })) };
}
const bytes = (text) => new Uint8Array(Buffer.from(text));

test("files are written and read in the three ways; what is missing is null", async (t) => {
  const { sandbox, files } = await withSandbox(t);
  assert.match(sandbox.description, /\/session/);
  await sandbox.writeTextFile({ path: "a/b.txt", content: "text é" });
  await sandbox.writeBinaryFile({ path: "/session/c.bin", content: bytes("bin") });
  await sandbox.writeFile({ path: "d.txt", content: new Blob(["stream"]).stream() });
  assert.equal((await files.read("/session/a/b.txt")).text(), "text é");
  assert.equal(await sandbox.readTextFile({ path: "a/b.txt" }), "text é");
  assert.deepEqual(Buffer.from(await sandbox.readBinaryFile({ path: "c.bin" })).toString(), "bin");
  assert.equal(await new Response(await sandbox.readFile({ path: "d.txt" })).text(), "stream");
  for (const read of ["readFile", "readBinaryFile", "readTextFile", "stat", "listDirectory"]) {
    assert.equal(await sandbox[read]({ path: "none" }), null, read);
  }
});

test("lines from and to, with the line ends of the file", async (t) => {
  const { sandbox } = await withSandbox(t);
  for (const end of ["\n", "\r\n", "\r"]) {
    for (const text of [["a", "b", "c"].join(end), ["a", "b", "c", ""].join(end), ""]) {
      await sandbox.writeTextFile({ path: "f", content: text });
      for (const startLine of [undefined, 1, 2, 4, 9]) {
        for (const endLine of [undefined, 1, 2, 3, 9]) {
          const lines = text.split(end).slice((startLine ?? 1) - 1, endLine ?? Infinity);
          assert.equal(
            await sandbox.readTextFile({ path: "f", startLine, endLine }),
            lines.join(end),
            JSON.stringify([text, startLine, endLine]),
          );
        }
      }
    }
  }
});

test("other encodings", async (t) => {
  const { sandbox, files } = await withSandbox(t);
  await sandbox.writeTextFile({ path: "f", content: "é", encoding: "latin1" });
  assert.deepEqual([...(await files.read("/session/f")).content], [0xe9]);
  assert.equal(await sandbox.readTextFile({ path: "f", encoding: "latin1" }), "é");
  await rejectsWith(sandbox.writeTextFile({ path: "f", content: "é", encoding: "klingon" }), "FS_INVALID_OPTION");
  await rejectsWith(sandbox.readTextFile({ path: "f", encoding: "klingon" }), "FS_INVALID_OPTION");
});

test("what is no object of options is refused in words", async (t) => {
  const { sandbox } = await withSandbox(t);
  for (const method of ["readFile", "readTextFile", "writeFile", "writeBinaryFile", "writeTextFile", "deleteFile"]) {
    for (const wrong of [null, 5, []]) await rejectsWith(sandbox[method](wrong), "FS_INVALID_OPTION");
  }
});

test("stat follows links, a listing does not; deleting takes the link itself", async (t) => {
  const { sandbox, roots } = await withSandbox(t);
  plant(roots.session, { "a.txt": "abc", "d/x": "", link: link("a.txt"), p: fifo() });
  assert.deepEqual(await sandbox.stat({ path: "link" }), { type: "file", size: 3 });
  assert.equal((await sandbox.stat({ path: "d" })).type, "directory");
  assert.equal((await sandbox.stat({ path: "p" })).type, "other");
  assert.deepEqual(await sandbox.listDirectory({ path: "." }), [
    { name: "a.txt", type: "file" },
    { name: "d", type: "directory" },
    { name: "link", type: "symlink" },
    { name: "p", type: "other" },
  ]);
  await rejectsWith(sandbox.listDirectory({ path: "a.txt" }), "FS_NOT_DIRECTORY");
  assert.equal(await sandbox.deleteFile({ path: "link" }), true);
  assert.equal(await sandbox.deleteFile({ path: "link" }), false);
  assert.equal(await sandbox.deleteFile({ path: "a.txt/below" }), false);
  assert.deepEqual(await sandbox.stat({ path: "a.txt" }), { type: "file", size: 3 });
  await rejectsWith(sandbox.deleteFile({ path: "d" }), "FS_NOT_REGULAR_FILE");
});

test("no commands; paths that leave are refused; a signal ends a call", async (t) => {
  const { sandbox } = await withSandbox(t);
  await rejectsWith(sandbox.run({ command: "ls" }), "FS_INVALID_OPTION", { message: /command/ });
  await rejectsWith(sandbox.spawn({ command: "ls" }), "FS_INVALID_OPTION");
  await rejectsWith(sandbox.readTextFile({ path: "/etc/passwd" }), "FS_SANDBOX_DENIED");
  await rejectsWith(sandbox.writeTextFile({ path: "../x", content: "" }), "FS_INVALID_PATH");
  const abortSignal = AbortSignal.abort();
  await rejectsWith(sandbox.writeTextFile({ path: "x", content: "", abortSignal }), "FS_ABORTED");
  for (const name of ["readFile", "readBinaryFile", "readTextFile", "stat", "listDirectory", "deleteFile"])
    await rejectsWith(sandbox[name]({ path: "x", abortSignal }), "FS_ABORTED");
});

test("AI SDK 7 hands it to tools", async (t) => {
  const { sandbox } = await withSandbox(t);
  const tools = {
    save: ai7.tool({
      inputSchema: ai7.jsonSchema({ type: "object" }),
      execute: async ({ text }, { experimental_sandbox: given }) => {
        await given.writeTextFile({ path: "note.txt", content: text });
        return given.readTextFile({ path: "note.txt" });
      },
    }),
  };
  const version = versions.find(({ major }) => major === 7);
  const { model, sent } = scripted(version, [[{ call: ["c", "save", { text: "hi" }] }], ["done"]]);
  await ai7.generateText({ model, tools, prompt: "go", experimental_sandbox: sandbox, ...untilDone(version) });
  assert.equal(toolOutputs(sent[1]).c.value, "hi");
});
