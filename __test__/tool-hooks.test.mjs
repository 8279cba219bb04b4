// Hooks around tool calls, as an onion; offload is its outermost layer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { harnessToolContext, isToolResultFile, tryHarnessToolContext } from "@little-stack/files";
import { rejectsWith, withHost } from "./support/host.mjs";
import { rootsSnapshot } from "./support/tree.mjs";
import { begin, toolOf } from "./support/turns.mjs";

const long = "x".repeat(20_000);
const named = (name, log, more = {}) => ({
  before: () => {
    log.push(`before ${name}`);
  },
  after: () => {
    log.push(`after ${name}`);
  },
  ...more,
});

test("before in order, after in reverse; each sees the call and its context", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main, { extraBody: { user: 1 } });
  const log = [];
  const seen = [];
  const hooks = [
    named("a", log, {
      before: async (...args) => {
        await sleep(2);
        log.push("before a");
        seen.push(args);
      },
    }),
    named("b", log, {
      after: async (...args) => {
        await sleep(2);
        log.push("after b");
        seen.push(args);
      },
    }),
    {
      before: () => {
        log.push("before only");
      },
    },
    {
      after: () => {
        log.push("after only");
      },
    },
    {},
  ];
  const result = { ok: true };
  const run = toolOf(
    turn,
    (_, options) => {
      log.push("tool");
      seen.push([harnessToolContext(options)]);
      return result;
    },
    { wrap: { hooks } },
  );
  assert.equal(await run({ q: 1 }, { toolCallId: "c1" }), result);
  assert.deepEqual(log, ["before a", "before b", "before only", "tool", "after only", "after b", "after a"]);
  assert.deepEqual(seen[0][0], { toolName: "query", toolCallId: "c1", input: { q: 1 } });
  assert.deepEqual([seen[0][1].turnId, seen[0][1].toolCallId, seen[0][1].extraBody], [turn.id, "c1", { user: 1 }]);
  assert.deepEqual(seen[2].slice(0, 2), [{ toolName: "query", toolCallId: "c1", input: { q: 1 } }, result]);
});

test("hooks keep their `this`, run inside the turn, and may write through its files", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  class Audit {
    #count = 0;
    before() {
      this.#count++;
      assert.equal(tryHarnessToolContext().turnId, turn.id);
    }
    async after(call, result, ctx) {
      await ctx.files.write("/session/audit.txt", `${this.#count} ${result}`);
    }
  }
  await toolOf(turn, () => "r", { wrap: { hooks: [new Audit()] } })();
  assert.equal((await h.files.read("/session/audit.txt")).text(), "1 r");
});

test("a block ends the call with its text: no tool, no later hook, no after, nothing changed", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const before = rootsSnapshot(h.roots);
  const log = [];
  const run = toolOf(turn, () => log.push("tool"), {
    wrap: {
      hooks: [
        named("a", log),
        { before: () => ({ block: "not allowed here" }), after: () => log.push("after blocked") },
        named("c", log),
      ],
    },
  });
  await assert.rejects(
    run(),
    (error) => error.constructor === Error && error.message === "not allowed here" && error.code === undefined,
  );
  assert.deepEqual(log, ["before a"]);
  const own = new TypeError("thrown");
  await assert.rejects(
    toolOf(turn, () => log.push("tool"), {
      wrap: {
        hooks: [
          named("a", log),
          {
            before: () => {
              throw own;
            },
          },
          named("c", log),
        ],
      },
    })(),
    (error) => error === own,
  );
  assert.deepEqual(log, ["before a", "before a"]);
  assert.deepEqual(rootsSnapshot(h.roots), before);
});

test("an input that is changed: for later hooks, the tool and after; the model's own input is not touched", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const seen = [];
  const hooks = [
    {
      before: () => ({ input: { q: 2 } }),
      after: (call) => {
        seen.push(["after a", call.input]);
      },
    },
    {
      before: (call) => {
        seen.push(["before b", call.input]);
      },
    },
    { before: () => ({ input: undefined }) },
  ];
  const input = Object.freeze({ q: 1 });
  await toolOf(
    turn,
    (given) => {
      seen.push(["tool", given]);
    },
    { wrap: { hooks } },
  )(input);
  assert.deepEqual(seen, [
    ["before b", { q: 2 }],
    ["tool", undefined],
    ["after a", undefined],
  ]);
});

test("a result that is changed: each after sees what the one inside it gave; undefined leaves it", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const add = (letter) => ({ after: (_, result) => `${result}${letter}` });
  const run = (hooks, result = "r") => toolOf(turn, () => result, { wrap: { hooks } })();
  assert.equal(await run([add("a"), { after: () => undefined }, add("b")]), "rba");
  assert.equal(await run([{ after: () => null }]), null);
  assert.equal(await run([{ after: async () => "late" }]), "late");
  assert.equal(
    await toolOf(turn, () => undefined, { wrap: { hooks: [{ after: (_, result) => result ?? "filled" }] } })(),
    "filled",
  );
});

test("a throw in after makes the call fail; a tool that fails has no after", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const log = [];
  const own = new Error("mine");
  await assert.rejects(
    toolOf(turn, () => "r", {
      wrap: {
        hooks: [
          named("a", log),
          {
            after: () => {
              throw own;
            },
          },
        ],
      },
    })(),
    (error) => error === own,
  );
  await assert.rejects(
    toolOf(
      turn,
      () => {
        throw own;
      },
      { wrap: { hooks: [named("a", log)] } },
    )(),
    (error) => error === own,
  );
  await assert.rejects(
    toolOf(
      turn,
      async () => {
        throw own;
      },
      { wrap: { hooks: [{ after: () => log.push("after") }] } },
    )(),
    (error) => error === own,
  );
  assert.deepEqual(log, ["before a", "before a"]);
});

test("what a before hook gives by mistake lets no call through", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const ran = [];
  for (const said of [true, false, 0, "no", {}, { blocked: "x" }, { block: 5 }, { block: true }, []]) {
    await rejectsWith(
      toolOf(turn, () => ran.push(said), { wrap: { hooks: [{ before: () => said }] } })(),
      "FS_INVALID_OPTION",
    );
  }
  assert.deepEqual(ran, []);
  await toolOf(turn, () => ran.push("null"), { wrap: { hooks: [{ before: () => null }] } })();
  assert.deepEqual(ran, ["null"]);
});

test("offload is outside of all hooks: they see the whole result, and what they give may be offloaded", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const seen = [];
  const output = await toolOf(turn, () => long, {
    wrap: {
      hooks: [
        {
          after: (_, result) => {
            seen.push(result);
          },
        },
      ],
    },
  })();
  assert.deepEqual(seen, [long]);
  assert.ok(isToolResultFile(output));
  assert.equal(await toolOf(turn, () => long, { wrap: { hooks: [{ after: () => "short" }] } })(), "short");
  assert.ok(isToolResultFile(await toolOf(turn, () => "short", { wrap: { hooks: [{ after: () => long }] } })()));
  const whole = { big: 1n };
  assert.equal(
    await toolOf(turn, () => whole, { wrap: { offload: false, hooks: [{ after() {} }] } })(),
    whole,
    "without offload it is as the hooks leave it",
  );
  const error = new Error(long);
  await assert.rejects(
    toolOf(turn, () => 1, {
      wrap: {
        offload: false,
        hooks: [
          {
            before: () => {
              throw error;
            },
          },
        ],
      },
    })(),
    (thrown) => thrown === error && thrown.message === long,
  );
  await assert.rejects(
    toolOf(turn, () => 1, { wrap: { hooks: [{ before: () => ({ block: long }) }] } })(),
    (thrown) => thrown.message.length <= 16_384,
  );
});

test("a hook may do what its turn does: a call of another tool, in parallel, and the end of the turn", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  const other = toolOf(turn, () => "inner", { name: "other" });
  assert.equal(await toolOf(turn, () => 1, { wrap: { hooks: [{ after: () => other() }] } })(), "inner");
  const ending = toolOf(turn, () => long, {
    wrap: {
      hooks: [
        {
          after: async () => {
            await turn.finish();
          },
        },
      ],
    },
  });
  await rejectsWith(ending(), "FS_CLOSED");
});
