// A whole loop on AI SDK 5, 6 and 7: a model that knows no better is refused, reads what the refusal says, does that, and goes on.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileTools } from "@little-stack/files/tools";
import { withHost } from "./support/host.mjs";
import { begin } from "./support/turns.mjs";
import { scripted, toolOutputs, untilDone, versions } from "./support/ai-sdk.mjs";

/** A model whose next step is made from what its last call gave: `act(output, step)` gives a call `[tool, input]`, or text. */
function acting({ Model, usage, reason }, act) {
  let step = 0;
  let last;
  return new Model({
    async doGenerate({ prompt }) {
      const output = last === undefined ? undefined : toolOutputs(prompt)[last];
      const next = act(output, step++);
      if (typeof next === "string")
        return { content: [{ type: "text", text: next }], finishReason: reason("stop"), usage, warnings: [] };
      last = `call-${step}`;
      const [toolName, input] = next;
      const call = { type: "tool-call", toolCallId: last, toolName, input: JSON.stringify(input) };
      return { content: [call], finishReason: reason("tool-calls"), usage, warnings: [] };
    },
  });
}

const textOf = ({ type, value }) => (type === "json" ? JSON.stringify(value) : String(value));

for (const version of versions) {
  test(`${version.name}: each refusal leads on to what was meant`, async (t) => {
    const h = await withHost(t);
    const session = await h.host.sessions.getOrCreate({ id: "test" });
    const file_path = "/session/config.ini";
    const disk = path.join(h.roots.session, "config.ini");
    fs.writeFileSync(disk, "port = 1\nhost = a\nhost = a\n");
    const turn = await begin(t, session);
    const refusals = [];
    /** What the model wants in the end; how it goes on when it is refused is in the words of the refusal. */
    const wishes = [
      ["write", { file_path, content: "port = 2\nhost = a\nhost = a\n" }],
      ["edit", { file_path, old_string: "port = 2", new_string: "port = 3" }],
      ["edit", { file_path, old_string: "port=3", new_string: "port = 4" }],
      ["edit", { file_path, old_string: "host = a", new_string: "host = b" }],
      ["read", { file_path: "/session/confg.ini" }],
      ["write", { file_path: "/config.ini", content: "x" }],
    ];
    let wish = wishes.shift();
    let resting = true;
    const act = (output) => {
      if (output === undefined) return wish;
      const text = textOf(output);
      const refused = output.type.startsWith("error");
      if (refused) {
        const [, code] = /\[(FS_\w+)\]/.exec(text);
        refusals.push(code);
        if (/read it again with read|Read the file with read first/.test(text)) return ["read", { file_path }];
        if (/copy old_string from it exactly/.test(text)) {
          wish = ["edit", { ...wish[1], old_string: "port = 3" }];
          return wish;
        }
        if (/set replace_all to true/.test(text)) return (wish = ["edit", { ...wish[1], replace_all: true }]);
        if (/Look with list or glob/.test(text)) return ["glob", { pattern: "**/*.ini" }];
        if (/managed root/.test(text)) return (wish = ["write", { file_path: "/session/new.ini", content: "x" }]);
        assert.fail(`no next step in: ${text}`);
      }
      if (/^\/session\/config\.ini {2}/.test(text)) wish = ["read", { file_path }]; // what glob found
      else if (text.startsWith("port") && wish[0] !== "read") return wish; // it has read what it was to read
      else wish = wishes.shift();
      if (wish?.[1].old_string === "port = 2" && resting) {
        resting = false;
        fs.appendFileSync(disk, "# somebody else was here\n");
      }
      return wish ?? "done";
    };
    const { text } = await version.sdk.generateText({
      model: acting(version, act),
      tools: turn.tools(fileTools()),
      prompt: "go",
      stopWhen: version.sdk.stepCountIs(30),
      maxRetries: 0,
    });
    assert.equal(text, "done");
    assert.deepEqual(refusals, [
      "FS_NOT_OBSERVED",
      "FS_STALE_VERSION",
      "FS_EDIT_NOT_FOUND",
      "FS_AMBIGUOUS_EDIT",
      "FS_NOT_FOUND",
      "FS_SANDBOX_DENIED",
    ]);
    assert.equal(fs.readFileSync(disk, "utf8"), "port = 4\nhost = b\nhost = b\n# somebody else was here\n");
    const { files } = await turn.finish();
    assert.deepEqual(files.edited, [file_path]);
    assert.deepEqual(files.written, [file_path, "/session/new.ini"]);
  });

  test(`${version.name}: texts go out as text, bounded, and never to a file; a list as JSON`, async (t) => {
    const h = await withHost(t, { offload: { maxInlineBytes: 1024 } });
    const session = await h.host.sessions.getOrCreate({ id: "test" });
    await session.files.writeText("/session/log.txt", "a line of the log\n".repeat(100_000));
    const turn = await begin(t, session);
    const todos = [{ content: "read the log", status: "in_progress" }];
    const { model, sent } = scripted(version, [
      [{ call: ["1", "read", { file_path: "/session/log.txt" }] }],
      [{ call: ["2", "grep", { pattern: "log" }] }],
      [{ call: ["3", "todo_write", { todos }] }],
      ["done"],
    ]);
    await version.sdk.generateText({ model, tools: turn.tools(fileTools()), prompt: "go", ...untilDone(version) });
    const outputs = toolOutputs(sent.at(-1));
    assert.deepEqual([outputs[1].type, outputs[2].type], ["text", "text"]);
    assert.match(outputs[1].value, /\n\nLines 1-2000 of 100000; continue with offset: 2001$/);
    assert.ok(outputs[1].value.length > 1024 && Buffer.byteLength(outputs[1].value) <= 51_200);
    assert.match(outputs[2].value, /200 matching lines of 100000 in 1 files/);
    assert.deepEqual(outputs[3].value, todos);
    assert.deepEqual(await session.files.list("/artifacts", { recursive: true }), []);
  });

  test(`${version.name}: a picture and a PDF go out as the version's own parts`, async (t) => {
    const h = await withHost(t);
    const session = await h.host.sessions.getOrCreate({ id: "test" });
    const files = {
      png: Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
      pdf: Buffer.from("%PDF-1.4\n"),
    };
    for (const [name, bytes] of Object.entries(files)) await session.files.write(`/session/a.${name}`, bytes);
    const turn = await begin(t, session);
    const { model, sent } = scripted(version, [
      [{ call: ["1", "read", { file_path: "/session/a.png" }] }],
      [{ call: ["2", "read", { file_path: "/session/a.pdf" }] }],
      ["done"],
    ]);
    const warned = [];
    const listen = (warning) => warned.push(warning);
    process.on("warning", listen);
    globalThis.AI_SDK_LOG_WARNINGS = ({ warnings }) => warned.push(...warnings);
    await version.sdk.generateText({ model, tools: turn.tools(fileTools()), prompt: "go", ...untilDone(version) });
    delete globalThis.AI_SDK_LOG_WARNINGS;
    process.off("warning", listen);
    const outputs = toolOutputs(sent.at(-1));
    const parts = [
      ["1", "png", "image/png"],
      ["2", "pdf", "application/pdf"],
    ];
    for (const [id, name, mediaType] of parts) {
      const { type, value } = outputs[id];
      assert.equal(type, "content");
      const [text, part, ...others] = value;
      assert.equal(others.length, 0);
      assert.match(text.text, new RegExp(`^/session/a\\.${name} \\(${mediaType}, ${files[name].length} bytes\\)$`));
      const data = files[name].toString("base64");
      const expected = {
        5: { type: "media", data, mediaType },
        6: { type: name === "png" ? "image-data" : "file-data", data, mediaType },
        7: { type: "file", data: { type: "data", data }, mediaType },
      }[version.major];
      assert.deepEqual(JSON.parse(JSON.stringify(part)), expected);
    }
    assert.deepEqual(warned, []);
  });
}
