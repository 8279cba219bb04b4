// Wrapping keeps tools what they are: their shape, and whatever SDKs call besides `execute`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { harnessToolContext, isToolResultFile, tryHarnessToolContext } from "@little-stack/files";
import * as ai7 from "ai7";
import { z } from "zod";
import { scripted, toolOutputs, untilDone, versions } from "./support/ai-sdk.mjs";
import { withHost } from "./support/host.mjs";
import { all, begin, toolOf } from "./support/turns.mjs";

const long = "x".repeat(20_000);

test("prototype and every property, hidden and odd ones too; the tool itself is not touched", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const mark = Symbol("mark");
  const prototype = { description: "inherited" };
  const tool = Object.defineProperties(Object.create(prototype), {
    execute: { value: () => "ran", enumerable: true },
    inputSchema: { value: { a: 1 }, enumerable: true, writable: true },
    experimental_toolCaller: { value: { hidden: true } },
    [mark]: { value: 5, enumerable: true },
    computed: { get: () => 7, enumerable: true },
  });
  Object.freeze(tool);
  const before = Object.getOwnPropertyDescriptors(tool);
  const { mine } = turn.tools({ mine: tool });
  assert.notEqual(mine, tool);
  assert.equal(Object.getPrototypeOf(mine), prototype);
  const own = Object.getOwnPropertyDescriptors(mine);
  assert.deepEqual(Reflect.ownKeys(own), Reflect.ownKeys(before));
  for (const key of Reflect.ownKeys(before)) {
    assert.equal(own[key].enumerable, before[key].enumerable, String(key));
    if (key !== "execute")
      assert.deepEqual(
        { value: own[key].value, get: own[key].get },
        { value: before[key].value, get: before[key].get },
      );
  }
  assert.equal(await mine.execute({}, {}), "ran");
  assert.deepEqual(Object.getOwnPropertyDescriptors(tool), before);
});

test("names of tools are only names, in their order", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const tools = JSON.parse('{"z": 1, "__proto__": 2, "constructor": 3, "a": 4}');
  const names = Object.keys(tools);
  for (const name of names) Object.defineProperty(tools, name, { value: { execute: () => name } });
  const wrapped = turn.tools(tools);
  assert.deepEqual(Object.keys(wrapped), names);
  for (const name of names)
    assert.equal(await Object.getOwnPropertyDescriptor(wrapped, name).value.execute({}, {}), name);
});

test("tools without execute are returned as they are; what is no tool is refused", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const client = { inputSchema: {} };
  const off = { execute: undefined };
  const wrapped = turn.tools({ client, off });
  assert.equal(wrapped.client, client);
  assert.equal(wrapped.off, off);
  assert.deepEqual(turn.tools({}), {});
  for (const tools of [undefined, null, 5, { a: null }, { a: () => 1 }])
    assert.throws(() => turn.tools(tools), { code: "FS_INVALID_OPTION" });
  for (const options of [5, { hooks: {} }, { hooks: [5] }, { hooks: [{ before: 1 }] }, { hooks: [null] }])
    assert.throws(() => turn.tools({}, options), { code: "FS_INVALID_OPTION" });
});

class Counter {
  #count = 40;
  #schema = { type: "object" };
  get inputSchema() {
    return this.#schema;
  }
  execute(step) {
    this.#count += step;
    return this.#count;
  }
  toModelOutput(output) {
    return { type: "text", value: `${this.#count}: ${output}` };
  }
  needsApproval(input) {
    return input > this.#count;
  }
  onInputStart() {
    this.#count++;
  }
}
test("class tools: private state, inherited getters and methods, on the tool itself", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  for (const wrap of [{}, { offload: false }, { hooks: [{ before() {} }] }]) {
    const tool = new Counter();
    const { counter } = turn.tools({ counter: tool }, wrap);
    assert.ok(counter instanceof Counter);
    assert.deepEqual(counter.inputSchema, { type: "object" });
    assert.equal(await counter.execute(2, {}), 42);
    assert.equal(await counter.execute(1, {}), 43);
    assert.deepEqual(counter.toModelOutput("x"), { type: "text", value: "43: x" });
    assert.equal(counter.needsApproval(100), true);
    counter.onInputStart();
    assert.equal(tool.execute(0), 44);
    assert.deepEqual(Object.keys(counter), Object.keys(tool));
  }
});

test("the code of a tool runs inside the turn, whichever way it is called", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const where = () => tryHarnessToolContext()?.turnId;
  for (const wrap of [{}, { offload: false }, { hooks: [{ after() {} }] }]) {
    assert.equal(await toolOf(turn, where, { wrap })(), turn.id);
    assert.equal(
      await toolOf(
        turn,
        async () => {
          await sleep(1);
          return where();
        },
        { wrap },
      )(),
      turn.id,
    );
    assert.deepEqual(
      await all(
        toolOf(
          turn,
          async function* () {
            yield where();
            await sleep(1);
            yield where();
          },
          { wrap },
        )(),
      ),
      [turn.id, turn.id],
    );
    const { tool } = turn.tools(
      {
        tool: {
          execute() {},
          toModelOutput: where,
          needsApproval: async () => where(),
          onInputStart: where,
          onInputDelta: where,
          onInputAvailable: where,
        },
      },
      wrap,
    );
    for (const name of ["toModelOutput", "onInputStart", "onInputDelta", "onInputAvailable"])
      assert.equal(tool[name]({}), turn.id, name);
    assert.equal(await tool.needsApproval({}, {}), turn.id);
  }
  assert.equal(where(), undefined);
});

test("toModelOutput of both shapes: a reference goes out as JSON, all else as the tool has it", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const only = { offload: { only: () => true } };
  const make = (toModelOutput) => turn.tools({ tool: { execute: () => long, toModelOutput } }, only).tool;
  const reference = await make(() => 0).execute({}, { toolCallId: "c" });
  assert.ok(isToolResultFile(reference));
  const given = [];
  const tool = make((...args) => {
    given.push(args);
    return { type: "text", value: "mine" };
  });
  assert.deepEqual(tool.toModelOutput(reference), { type: "json", value: reference });
  assert.deepEqual(tool.toModelOutput({ toolCallId: "c", input: {}, output: reference }), {
    type: "json",
    value: reference,
  });
  assert.deepEqual(given, []);
  for (const args of [["small"], [{ output: reference }], [{ toolCallId: "c", input: 1, output: "x" }, "more"]])
    assert.deepEqual(tool.toModelOutput(...args), { type: "text", value: "mine" });
  assert.deepEqual(given.length, 3);
});

test("a sub-agent's tools through ctx.tools: the same turn, its context, its offload", async (t) => {
  const [, version] = versions;
  const h = await withHost(t);
  const turn = await begin(t, h.main, { extraBody: { user: 7 } });
  const inner = {
    inputSchema: z.object({}),
    execute: (_, options) => {
      const ctx = harnessToolContext(options);
      return `${ctx.turnId} ${ctx.extraBody.user} ${ctx.toolCallId} ${long}`;
    },
  };
  const { model, sent } = scripted(version, [[{ call: ["inner-1", "inner", {}] }], ["done"]]);
  const agent = toolOf(
    turn,
    async (_, options) => {
      const { tools } = harnessToolContext(options);
      const { text } = await version.sdk.generateText({
        model,
        tools: tools({ inner }),
        prompt: "go",
        ...untilDone(version),
      });
      return text;
    },
    { name: "agent" },
  );
  assert.equal(await agent(), "done");
  const { "inner-1": output } = toolOutputs(sent[1]);
  assert.ok(output.value.preview.startsWith(`${turn.id} 7 inner-1 xxx`));
  assert.deepEqual((await turn.finish()).files.written, [output.value.path]);
});

test("dynamic tools, and those of AI SDK 7 that have a toolCaller", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  for (const { sdk } of versions) {
    const dynamic = sdk.dynamicTool({ description: "any", inputSchema: z.object({}), execute: async () => long });
    const { tool } = turn.tools({ tool: dynamic });
    assert.equal(tool.type, "dynamic");
    assert.ok(isToolResultFile(await tool.execute({}, { toolCallId: "d", messages: [] })));
  }
  const called = ai7.experimental_toolCaller(ai7.tool({ inputSchema: z.object({}), execute: () => 1 }), { mark: 1 });
  assert.deepEqual(turn.tools({ called }).called.experimental_toolCaller, { mark: 1 });
});

test("tools called without options, and many at a time, each with its own id", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const id = toolOf(turn, async (_, options) => {
    await sleep(Math.random() * 5);
    return harnessToolContext(options).toolCallId ?? "none";
  });
  for (const options of [undefined, null, {}])
    assert.equal(await id({}, options), options === undefined ? "call-1" : "none");
  assert.deepEqual(
    await Promise.all(Array.from({ length: 50 }, (_, at) => id({}, { toolCallId: `c${at}` }))),
    Array.from({ length: 50 }, (_, at) => `c${at}`),
  );
});
