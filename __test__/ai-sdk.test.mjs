// The whole loop on AI SDK 5, 6 and 7: what tools get, and what the model gets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { harnessToolContext, isToolResultFile, toolResultFileSchema, tryHarnessToolContext } from "@little-stack/files";
import { z } from "zod";
import { scripted, toolOutputs, untilDone, versions } from "./support/ai-sdk.mjs";
import { withHost } from "./support/host.mjs";
import { begin, bytesOf, deferred, modelBytes, nextTurnStarts } from "./support/turns.mjs";

const LIMIT = 16_384;
const empty = z.object({});
const long = "y".repeat(40_000);

for (const version of versions) {
  const { name, sdk, major } = version;
  const { tool, generateText, streamText } = sdk;

  test(`${name}: the seed's example, through generateText, and a result that is far too large`, async (t) => {
    const h = await withHost(t);
    const rows = Array.from({ length: 5 }, (_, id) => ({ id, owner: "u-7" }));
    const seen = [];
    const queryAccounts = tool({
      description: "Query account rows visible to the current user.",
      inputSchema: z.object({ query: z.string() }),
      execute: async (input, options) => {
        const ctx = harnessToolContext(options);
        seen.push({ input, userId: ctx.extraBody?.userId, toolCallId: ctx.toolCallId, keys: Object.keys(options) });
        const file = await ctx.files.writeJSON("/artifacts/tool/query-accounts/result.json", rows);
        return {
          preview: `${rows.length} rows exported for analysis.`,
          path: file.path,
          bytes: file.bytes,
          artifact: file.artifact,
        };
      },
    });
    const dump = tool({
      inputSchema: empty,
      execute: () => Array.from({ length: 4000 }, (_, id) => ({ id, text: "row" })),
    });
    const { model, sent } = scripted(version, [
      [{ call: ["a", "queryAccounts", { query: "all" }] }, { call: ["b", "dump", {}] }],
      ["done"],
    ]);
    const turn = await begin(t, h.main, { extraBody: { userId: "u-7" } });
    const result = await generateText({
      model,
      tools: turn.tools({ queryAccounts, dump }),
      prompt: "go",
      ...untilDone(version),
    });
    assert.equal(result.text, "done");
    assert.deepEqual(
      { ...seen[0], keys: undefined },
      { input: { query: "all" }, userId: "u-7", toolCallId: "a", keys: undefined },
    );
    for (const key of ["toolCallId", "messages", "abortSignal"])
      assert.ok(seen[0].keys.includes(key), `the SDK's ${key} is there`);

    const outputs = toolOutputs(sent[1]);
    assert.equal(outputs.a.type, "json");
    assert.equal(outputs.a.value.path, "/artifacts/tool/query-accounts/result.json");
    assert.equal(outputs.a.value.artifact.path, outputs.a.value.path);
    assert.ok(isToolResultFile(outputs.b.value) && modelBytes(outputs.b.value) <= LIMIT);
    assert.equal(JSON.parse(await bytesOf(h.main, outputs.b.value.path)).length, 4000);
    const stepResult = result.steps[0].toolResults.find((each) => each.toolName === "dump").output;
    assert.deepEqual(stepResult, outputs.b.value);

    const finished = await turn.finish();
    assert.deepEqual(finished.files.written, [
      "/artifacts/tool-results/dump/b.json",
      "/artifacts/tool/query-accounts/result.json",
    ]);
    await nextTurnStarts(h.main);
  });

  test(`${name}: streamText with a generator tool, to its end`, async (t) => {
    const h = await withHost(t);
    const watch = tool({
      inputSchema: empty,
      async *execute(_, options) {
        const { files } = harnessToolContext(options);
        yield { progress: 1 };
        await files.writeText("/session/seen.txt", "seen");
        yield { progress: 2 };
        yield long;
      },
    });
    const { model, sent } = scripted(version, [[{ call: ["g", "watch", {}] }], ["the ", "end"]]);
    const turn = await begin(t, h.main);
    const finished = deferred();
    const result = streamText({
      model,
      tools: turn.tools({ watch }),
      prompt: "go",
      ...untilDone(version),
      ...turn.callbacks({ onFinish: finished.resolve }),
    });
    const parts = [];
    for await (const part of result.fullStream) if (part.type === "tool-result") parts.push(part);
    await finished.promise;
    const outputs = parts.map(({ output }) => output);
    assert.deepEqual(
      outputs.slice(0, 3),
      [{ progress: 1 }, { progress: 2 }, long],
      "preliminary results come as they are",
    );
    assert.ok(outputs.slice(3).every(isToolResultFile) && outputs.length >= 4);
    assert.deepEqual(
      parts.slice(0, 3).map(({ preliminary }) => preliminary),
      [true, true, true],
    );
    const { g } = toolOutputs(sent[1]);
    assert.ok(isToolResultFile(g.value));
    assert.equal((await bytesOf(h.main, g.value.path)).toString(), long);
    assert.deepEqual((await turn.finish()).files.written, ["/artifacts/tool-results/watch/g.txt", "/session/seen.txt"]);
    await nextTurnStarts(h.main);
  });

  test(`${name}: results that would kill a run with the bare tool reach the model in a stated form`, async (t) => {
    const h = await withHost(t);
    const cycle = { name: "ring" };
    cycle.self = cycle;
    let deep = [];
    for (let level = 1; level < 2000; level++) deep = [deep];
    const results = {
      bigint: { id: 10n ** 20n },
      cycle,
      fn: function lookUp() {},
      throws: {
        ok: 1,
        bad: {
          toJSON() {
            throw new TypeError("no");
          },
        },
      },
      map: new Map([["a", new Set([1])]]),
      deep,
    };
    const tools = Object.fromEntries(
      Object.entries(results).map(([key, value]) => [key, tool({ inputSchema: empty, execute: () => value })]),
    );
    const { model, sent } = scripted(version, [
      Object.keys(results).map((key) => ({ call: [key, key, {}] })),
      ["done"],
    ]);
    const turn = await begin(t, h.main);
    const { text } = await generateText({ model, tools: turn.tools(tools), prompt: "go", ...untilDone(version) });
    assert.equal(text, "done");
    const outputs = toolOutputs(sent[1]);
    assert.deepEqual(outputs.bigint.value, { id: "100000000000000000000" });
    assert.deepEqual(outputs.cycle.value, { name: "ring", self: "[Circular]" });
    assert.equal(outputs.fn.value, "[function lookUp]");
    assert.deepEqual(outputs.throws.value, { ok: 1, bad: "[unreadable: TypeError]" });
    assert.deepEqual(outputs.map.value, [["a", [1]]]);
    assert.ok(isToolResultFile(outputs.deep.value));
  });

  test(`${name}: preliminary results that JSON cannot hold do not kill the stream for the UI`, async (t) => {
    const h = await withHost(t);
    const ring = { name: "ring" };
    ring.self = ring;
    const watch = tool({
      inputSchema: empty,
      async *execute() {
        yield 5n;
        yield ring;
        yield { done: true };
      },
    });
    const { model, sent } = scripted(version, [[{ call: ["w", "watch", {}] }], ["the end"]]);
    const turn = await begin(t, h.main);
    const result = streamText({ model, tools: turn.tools({ watch }), prompt: "go", ...untilDone(version) });
    const text = await result.toUIMessageStreamResponse().text();
    for (const said of ['"output":"5"', '"self":"[Circular]"', "the end"]) assert.ok(text.includes(said), said);
    assert.deepEqual(toolOutputs(sent[1]).w.value, { done: true });
  });

  test(`${name}: errors reach the model with their code, and bounded`, async (t) => {
    const h = await withHost(t);
    const tools = {
      read: tool({
        inputSchema: empty,
        execute: (_, options) => harnessToolContext(options).files.read("/session/none.txt"),
      }),
      loud: tool({
        inputSchema: empty,
        execute: () => {
          throw new RangeError("🟡".repeat(30_000));
        },
      }),
    };
    const { model, sent } = scripted(version, [[{ call: ["r", "read", {}] }, { call: ["l", "loud", {}] }], ["done"]]);
    const turn = await begin(t, h.main);
    await generateText({ model, tools: turn.tools(tools), prompt: "go", ...untilDone(version) });
    const { r, l } = toolOutputs(sent[1]);
    assert.equal(r.type, "error-text");
    assert.match(r.value, /\[FS_NOT_FOUND\] .*ENOENT/);
    assert.ok(Buffer.byteLength(l.value) <= LIMIT && l.value.isWellFormed() && l.value.length > 1000);
  });

  test(`${name}: an outputSchema stays true of what is stored, and with a union also when the tool is picked`, async (t) => {
    const h = await withHost(t);
    const list = z.object({ rows: z.array(z.string()) });
    const value = { rows: Array.from({ length: 3000 }, () => "a row") };
    const union = sdk.jsonSchema(
      {
        anyOf: [{ type: "object", properties: { rows: { type: "array" } }, required: ["rows"] }, toolResultFileSchema],
      },
      {
        validate: (given) =>
          isToolResultFile(given) || list.safeParse(given).success
            ? { success: true, value: given }
            : { success: false, error: new Error("neither") },
      },
    );
    const bare = {
      plain: tool({ inputSchema: empty, outputSchema: list, execute: () => value }),
      picked: tool({
        inputSchema: empty,
        outputSchema: union,
        toModelOutput: () => ({ type: "text", value: "my own form" }),
        execute: () => value,
      }),
    };
    const { model, sent } = scripted(version, [
      [{ call: ["p", "plain", {}] }, { call: ["q", "picked", {}] }],
      ["done"],
    ]);
    const turn = await begin(t, h.main);
    const tools = turn.tools(bare, { offload: { only: ({ toolName }) => toolName === "picked" } });
    const result = streamText({ model, tools, prompt: "go", ...untilDone(version) });
    const ui = [];
    for await (const message of sdk.readUIMessageStream({ stream: result.toUIMessageStream() })) ui[0] = message;
    const parts = ui[0].parts.filter((part) => part.type.startsWith("tool-"));
    assert.deepEqual(parts[0].output, value, "left alone");
    assert.ok(isToolResultFile(parts[1].output));
    const { p, q } = toolOutputs(sent[1]);
    assert.deepEqual(p.value, value);
    assert.deepEqual(q, { type: "json", value: parts[1].output });
    await sdk.validateUIMessages({ messages: ui, tools: bare });
    // A later request makes model messages of it again.
    const stored = toolOutputs(await sdk.convertToModelMessages(ui, { tools: turn.tools(bare) }));
    assert.deepEqual(stored.q, { type: "json", value: parts[1].output });
  });

  test(`${name}: tools that are not wrapped find the turn, and outside of one the error shows the wiring`, async (t) => {
    const h = await withHost(t);
    const where = tool({
      inputSchema: empty,
      execute: (_, options) => tryHarnessToolContext(options)?.turnId ?? "none",
    });
    const run = async (options = {}) => {
      const { model, sent } = scripted(version, [[{ call: ["w", "where", {}] }], ["done"]]);
      await generateText({ model, tools: { where }, prompt: "go", ...untilDone(version), ...options });
      return toolOutputs(sent[1]).w.value;
    };
    const turn = await begin(t, h.main);
    assert.equal(await run(), "none");
    assert.equal(await turn.run(() => run()), turn.id);
    const handedOn = await run({ experimental_context: { ...turn.context, mine: 1 } });
    assert.equal(handedOn, major < 7 ? turn.id : "none");
    const strict = tool({ inputSchema: empty, execute: (_, options) => harnessToolContext(options).turnId });
    const { model, sent } = scripted(version, [[{ call: ["s", "strict", {}] }], ["done"]]);
    await generateText({ model, tools: { strict }, prompt: "go", ...untilDone(version) });
    const { s } = toolOutputs(sent[1]);
    assert.match(s.value, /\[FS_NO_CONTEXT\][\s\S]*turn\.tools\(tools\)/);
  });
}
