// What JSON cannot hold is refused by writeJSON, with its place, and leaves nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { NAME, nested, withToJSON } from "./support/json-text.mjs";
import { leftovers } from "./support/tree.mjs";

const circle = () => {
  const value = { rows: [{}, {}] };
  value.rows[1].self = value;
  return value;
};
const refused = {
  undefined: [() => undefined, "$"],
  "a function": [() => () => 1, "$"],
  "a symbol": [() => Symbol("s"), "$"],
  "a toJSON that leaves nothing": [() => withToJSON(() => undefined), "$"],
  "a BigInt": [() => 1n, "$"],
  "a BigInt deep inside": [() => ({ rows: [1, 2, 3, { id: 4n }] }), "$.rows[3].id"],
  "a BigInt under odd keys": [() => ({ "odd key": { "": [[1n]] } }), '$["odd key"][""][0][0]'],
  "a BigInt from a box": [() => [Object(1n)], "$[0]"],
  "a BigInt from toJSON": [() => ({ a: withToJSON(() => 1n) }), "$.a"],
  "a cycle": [circle, "$.rows[1].self"],
  "an array in itself": [
    () => {
      const array = [1];
      array.push(array);
      return array;
    },
    "$[1]",
  ],
  "a cycle through toJSON": [
    () => {
      const value = { a: withToJSON(() => value) };
      return value;
    },
    "$.a",
  ],
  "a cycle far down": [
    () => {
      const top = {};
      return Object.assign(top, { down: nested(200, (inner) => [inner === "bottom" ? top : inner]) });
    },
    /^\$…?(\.down)?(\[0\])+$/,
  ],
  "a getter that throws": [
    () => ({
      a: {
        get b() {
          throw new TypeError("secret text");
        },
      },
    }),
    "$.a.b",
    TypeError,
  ],
  "a toJSON that throws": [
    () => [
      withToJSON(() => {
        throw new RangeError("secret text");
      }),
    ],
    "$[0]",
    RangeError,
  ],
  "a toJSON that throws what is no error": [
    () => [
      withToJSON(() => {
        throw "secret text";
      }),
    ],
    "$[0]",
  ],
  "a revoked proxy": [
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return { proxy };
    },
    "$.proxy",
    TypeError,
  ],
  "a proxy that throws": [
    () => ({
      a: new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("secret text");
          },
        },
      ),
    }),
    "$.a",
    Error,
  ],
  "too deep": [() => nested(10_001, (inner) => [inner]), /^\$…/],
};

test("what JSON cannot hold is refused, with its place", async (t) => {
  const h = await withHost(t);
  await h.files.writeText(NAME, "old");
  for (const [title, [make, place, cause]] of Object.entries(refused)) {
    await t.test(title, async () => {
      const error = await rejectsWith(h.files.writeJSON(NAME, make()), "FS_INVALID_CONTENT", { path: NAME });
      if (typeof place === "string") assert.equal(error.details.at, place);
      else assert.match(error.details.at, place);
      assert.ok(error.message.includes(`${error.details.at} `), error.message);
      assert.ok(error.details.at.length < 400, "the place is bounded");
      assert.ok(!error.message.includes("secret text"));
      if (cause !== undefined) assert.ok(error.cause instanceof cause);
      assert.equal((await h.files.read(NAME)).text(), "old");
      assert.deepEqual(leftovers(h.dataDir), []);
    });
  }
});

test("what throws late, after much was staged, leaves nothing", async (t) => {
  const h = await withHost(t);
  await h.files.writeText(NAME, "old");
  const rows = Array.from({ length: 60_000 }, (_, id) => ({ id, text: "some text that makes a few megabytes" }));
  const error = await rejectsWith(h.files.writeJSON(NAME, [...rows, { bad: 1n }]), "FS_INVALID_CONTENT");
  assert.equal(error.details.at, "$[60000].bad");
  assert.equal((await h.files.read(NAME)).text(), "old");
  assert.deepEqual(leftovers(h.dataDir), []);
});
