// `harnessToolContext`: how a tool finds its turn, and what it finds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { harnessToolContext, tryHarnessToolContext } from "@little-stack/files";
import * as ai7 from "ai7";
import { z } from "zod";
import { scripted, toolOutputs, untilDone, versions } from "./support/ai-sdk.mjs";
import { assertError, withHost } from "./support/host.mjs";
import { copyPackage } from "./support/process.mjs";
import { begin, toolOf } from "./support/turns.mjs";

test("outside of a turn: undefined, or FS_NO_CONTEXT that shows the wiring", () => {
  for (const options of [
    undefined,
    null,
    {},
    { context: {} },
    { context: null, experimental_context: 5 },
    "x",
    5,
    { toolCallId: "c" },
  ]) {
    assert.equal(tryHarnessToolContext(options), undefined);
    assert.throws(
      () => harnessToolContext(options),
      (error) => {
        assertError(error, "FS_NO_CONTEXT");
        for (const line of [
          "session.beginTurn()",
          "turn.tools(tools)",
          "turn.run(",
          "experimental_context: { ...turn.context }",
        ])
          assert.ok(error.message.includes(line), line);
        return true;
      },
    );
  }
});

test("the SDK's options stay as they were; the tool gets a copy with one symbol more", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const given = Object.freeze({
    toolCallId: "c1",
    messages: [],
    abortSignal: undefined,
    experimental_context: { mine: 1 },
  });
  let seen;
  await toolOf(turn, (_, options) => {
    seen = options;
  })({}, given);
  assert.notEqual(seen, given);
  assert.deepEqual(Object.entries(seen), Object.entries(given));
  const symbols = Object.getOwnPropertySymbols(seen);
  assert.equal(symbols.length, 1);
  assert.ok(Object.getOwnPropertyDescriptor(seen, symbols[0]).enumerable, "a spread keeps it");
  assert.equal(harnessToolContext({ ...seen }).turnId, turn.id);
});

test("what a tool finds", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main, { extraBody: { userId: "u" } });
  const { signal } = new AbortController();
  let ctx;
  await toolOf(turn, (_, options) => {
    ctx = harnessToolContext(options);
  })({}, { toolCallId: "c1", abortSignal: signal, messages: [] });
  assert.deepEqual(Object.keys(ctx).sort(), [
    "abortSignal",
    "artifacts",
    "extraBody",
    "files",
    "session",
    "toolCallId",
    "tools",
    "turnId",
  ]);
  assert.deepEqual(
    [ctx.turnId, ctx.toolCallId, ctx.abortSignal, ctx.extraBody],
    [turn.id, "c1", signal, { userId: "u" }],
  );
  assert.equal(ctx.files, turn.files);
  assert.equal(ctx.session.id, "test");
  await ctx.files.write("/artifacts/a.txt", "x");
  assert.deepEqual(
    (await ctx.artifacts.list()).map(({ path }) => path),
    ["/artifacts/a.txt"],
  );
});

test("found by the options, then by what they hand on, then by the asynchronous context; the call's own id and signal", async (t) => {
  const h = await withHost(t);
  const turns = [await begin(t, h.main), await begin(t, await h.session("b")), await begin(t, await h.session("c"))];
  const marked = await toolOf(turns[0], (_, options) => options, { wrap: { offload: false } })(
    {},
    { toolCallId: "old" },
  );
  const context = { ...turns[1].context, mine: 1 };
  const inside = (options) => turns[2].run(() => harnessToolContext(options));
  assert.equal(inside({ ...marked, context, toolCallId: "c" }).turnId, turns[0].id);
  for (const name of ["context", "experimental_context"]) {
    const found = inside({ [name]: context, toolCallId: "c", abortSignal: AbortSignal.abort() });
    assert.deepEqual([found.turnId, found.toolCallId, found.abortSignal.aborted], [turns[1].id, "c", true]);
  }
  for (const options of [undefined, {}, { context: {} }]) assert.equal(inside(options).turnId, turns[2].id);
  assert.equal(inside({ toolCallId: "mine" }).toolCallId, "mine");
  assert.equal(inside({}).toolCallId, undefined);
  // What a helper finds that is given no options is the call that it runs in.
  const helper = async () => {
    await sleep(1);
    return harnessToolContext();
  };
  assert.equal(
    (await toolOf(turns[0], helper, { wrap: { offload: false } })({}, { toolCallId: "deep" })).toolCallId,
    "deep",
  );
});

test("turn.context survives being spread, and its functions stand by themselves", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const spread = { ...turn.context };
  const {
    files: { write },
    tools,
  } = harnessToolContext({ experimental_context: { ...spread } });
  await write("/session/a.txt", "x");
  const { echo } = tools({ echo: { execute: (input, options) => [input, harnessToolContext(options).turnId] } });
  assert.deepEqual(await echo.execute(1, {}), [1, turn.id]);
});

test("another turn that runs at the same time is never found", async (t) => {
  const h = await withHost(t);
  const sessions = await Promise.all(Array.from({ length: 8 }, (_, at) => h.session(`s${at}`)));
  await Promise.all(
    sessions.map(async (session) => {
      const turn = await begin(t, session);
      const look = async () => {
        const seen = [];
        for (let at = 0; at < 20; at++) {
          await new Promise(setImmediate);
          seen.push(harnessToolContext().session.id);
        }
        return seen;
      };
      assert.deepEqual(new Set(await turn.run(look)), new Set([session.id]));
      assert.deepEqual(new Set(await toolOf(turn, look)()), new Set([session.id]));
      await turn.finish();
    }),
  );
});

test("another copy of the package finds the turn, by each way", async (t) => {
  const h = await withHost(t);
  const copy = await import(copyPackage(t).href);
  assert.notEqual(copy.harnessToolContext, harnessToolContext);
  const turn = await begin(t, h.main);
  assert.equal(await toolOf(turn, (_, options) => copy.harnessToolContext(options).turnId)(), turn.id);
  assert.equal(
    turn.run(() => copy.harnessToolContext().turnId),
    turn.id,
  );
  assert.equal(copy.harnessToolContext({ experimental_context: { ...turn.context } }).turnId, turn.id);
});

test("AI SDK 7: tools with a contextSchema, which strips what it does not declare, find the turn", async (t) => {
  const [, , version] = versions;
  const h = await withHost(t);
  const seen = [];
  const lookUp = ai7.tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ apiKey: z.string() }),
    execute: (_, options) => {
      seen.push([options.context, harnessToolContext(options).turnId]);
      return "ok";
    },
  });
  const { model, sent } = scripted(version, [[{ call: ["l", "lookUp", {}] }], ["done"]]);
  const turn = await begin(t, h.main);
  await ai7.generateText({
    model,
    tools: turn.tools({ lookUp }),
    toolsContext: { lookUp: { apiKey: "k", other: 1 } },
    prompt: "go",
    ...untilDone(version),
  });
  assert.deepEqual(seen, [[{ apiKey: "k" }, turn.id]]);
  assert.equal(toolOutputs(sent[1]).l.value, "ok");
});
