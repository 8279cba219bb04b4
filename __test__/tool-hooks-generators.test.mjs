// Hooks around tools that yield.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isToolResultFile } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { all, begin, toolOf } from "./support/turns.mjs";

const long = "x".repeat(20_000);

const isAtOnce = (values) => typeof values?.[Symbol.asyncIterator] === "function";
test("generator tools: after sees the last value; with a before hook they have to be known as generators", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const log = [];
  const values = async function* (input) {
    log.push("tool");
    yield "a";
    yield input.last ?? "b";
  };
  const hidden = (input) => values(input);
  const after = {
    after: (_, result) => {
      log.push(`after ${result}`);
    },
  };
  const before = {
    before: () => {
      log.push("before");
    },
  };

  for (const execute of [values, hidden]) {
    assert.deepEqual(await all(toolOf(turn, execute, { wrap: { hooks: [after] } })()), ["a", "b"]);
    assert.deepEqual(await all(toolOf(turn, execute, { wrap: { hooks: [{ after: () => "c" }] } })()), ["a", "b", "c"]);
    assert.deepEqual(await all(toolOf(turn, execute, { wrap: { offload: false, hooks: [after] } })()), ["a", "b"]);
  }
  assert.deepEqual(log.splice(0), [
    "tool",
    "after b",
    "tool",
    "tool",
    "after b",
    "tool",
    "after b",
    "tool",
    "tool",
    "after b",
  ]);

  for (const tool of [{ execute: values }, { execute: hidden, streaming: true }, { execute: values.bind(null) }]) {
    const given = toolOf(turn, tool.execute, {
      ...tool,
      wrap: { hooks: [before, after, { before: () => ({ input: { last: long } }) }] },
    })();
    assert.ok(isAtOnce(given));
    const [first, second, third, ...rest] = await all(given);
    assert.deepEqual([first, second, rest], ["a", long, []]);
    assert.ok(isToolResultFile(third));
    assert.deepEqual(log.splice(0), ["before", "tool", `after ${long}`]);
  }
  const drained = toolOf(turn, hidden, { wrap: { hooks: [before, after] } })();
  assert.ok(!isAtOnce(drained));
  assert.equal(await drained, "b");
  assert.deepEqual(log.splice(0), ["before", "tool", "after b"]);
  assert.deepEqual(await all(toolOf(turn, async () => "one", { streaming: true, wrap: { hooks: [before] } })()), [
    "one",
  ]);

  const blocked = toolOf(turn, values, { wrap: { hooks: [{ before: () => ({ block: "no" }) }] } })();
  await assert.rejects(all(blocked), { message: "no" });
  assert.deepEqual(log, ["before"]);
  const failing = toolOf(turn, values, {
    wrap: {
      hooks: [
        {
          after: () => {
            throw new Error("after");
          },
        },
      ],
    },
  })();
  assert.deepEqual([(await failing.next()).value, (await failing.next()).value], ["a", "b"]);
  await assert.rejects(failing.next(), { message: "after" });
});
