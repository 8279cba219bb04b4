// writeJSON writes JSON.stringify(value, null, 2), byte for byte, for every value and at every size; or says where it cannot.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { rejectsWith, withHost } from "./support/host.mjs";
import { leftovers } from "./support/tree.mjs";

const NAME = "/session/value.json";

/** What writeJSON made of the value, as bytes. */
async function written(h, value) {
  const ref = await h.files.writeJSON(NAME, value);
  const data = await h.files.read(NAME);
  assert.equal(ref.bytes, data.content.length);
  assert.equal(ref.mediaType, "application/json");
  return Buffer.from(data.content);
}

/** Both get a value of their own, so that neither sees what the other did to it. */
async function assertSame(h, make, note = "") {
  let text;
  try {
    text = JSON.stringify(make(), null, 2);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    await rejectsWith(h.files.writeJSON(NAME, make()), "FS_INVALID_CONTENT");
    return;
  }
  const ours = await written(h, make());
  if (!ours.equals(Buffer.from(text))) assert.equal(ours.toString(), text, note); // a difference that a person can read
}

test("any value gives the bytes of JSON.stringify", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const anything = fc.anything({
    maxDepth: 5,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  });
  await fc.assert(
    fc.asyncProperty(anything, (value) => assertSame(h, () => value)),
    { numRuns: 400 },
  );
});

test("any string, as value and as key: escapes, surrogates, every length about the edges", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const text = fc.string({
    unit: fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    maxLength: 40,
  });
  const stretched = fc
    .tuple(text, fc.constantFrom(0, 1, 1023, 1024, 1025, 16_383, 16_384, 65_535, 65_536, 70_000))
    .map(([piece, length]) => (length === 0 ? piece : `${"x".repeat(length)}${piece}`));
  await fc.assert(
    fc.asyncProperty(fc.array(stretched, { maxLength: 4 }), async (all) => {
      await assertSame(h, () => all);
      await assertSame(h, () => Object.fromEntries(all.map((each) => [each, each])));
    }),
    { numRuns: 150 },
  );
});

class Row {
  constructor(id) {
    this.id = id;
  }
  get shown() {
    return "not own";
  }
  toJSON(key) {
    return { key, id: this.id };
  }
}
const withToJSON = (toJSON) => ({ toJSON });
const shared = { a: [1] };

const traps = {
  primitives: () => [
    "",
    "text",
    0,
    -0,
    1.5,
    1e21,
    1e-7,
    5e-324,
    Number.MAX_VALUE,
    NaN,
    Infinity,
    -Infinity,
    true,
    false,
    null,
  ],
  "top-level string": () => 'a"b\\c\n\u0001\u2028\ud800 \ud83d\ude00 ü',
  "top-level number": () => -0,
  "top-level null": () => null,
  "top-level Date": () => new Date(1e12),
  "empty containers": () => [[], {}, [[]], [{}], { a: {}, b: [] }],
  "what an object leaves out": () => ({ a: undefined, b() {}, c: Symbol("c"), d: 1, [Symbol("key")]: 1 }),
  "an object of which nothing is left": () => [{ a: undefined }, { a: () => 1 }],
  "what an array makes null": () => [undefined, () => 1, Symbol("s"), Row],
  "sparse arrays": () => [1, , 3, ,], // eslint-disable-line no-sparse-arrays
  "a long hole": () => {
    const array = [];
    array[5000] = 1;
    return array;
  },
  "an array with properties": () => Object.assign([1, 2], { extra: 3 }),
  "key order": () => ({ b: 1, 2: 2, a: 3, 1: 4, "01": 5, "-1": 6, 4294967295: 7, 4294967294: 8 }),
  "inherited and hidden keys": () =>
    Object.defineProperty(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }), "hidden", {
      value: 3,
    }),
  "__proto__ as an own key": () => JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "toString": 3}'),
  "odd keys": () => ({ "": 1, "a b": 2, '"': 3, "\n": 4, "\ud800": 5, "\ud83d\ude00": 6, ü: 7 }),
  "no prototype": () => Object.assign(Object.create(null), { a: 1 }),
  "class instances": () => ({ rows: [new Row(1), new Row(2)], one: new Row(3) }),
  "toJSON gets the key": () => ({
    a: withToJSON((key) => [key]),
    list: [withToJSON((key) => typeof key + key)],
    "": withToJSON((key) => ({ key })),
  }),
  "toJSON at the top gets an empty key": () => withToJSON((key) => ({ key })),
  "toJSON that leaves nothing": () => ({ a: withToJSON(() => undefined), b: [withToJSON(() => undefined)] }),
  "toJSON of what toJSON gives is not called": () => withToJSON(() => withToJSON(() => "twice")),
  "toJSON that is no function": () => ({ toJSON: "text", a: 1 }),
  "toJSON of a function": () => [Object.assign(() => 1, { toJSON: () => "called" })],
  dates: () => [new Date(0), new Date(NaN), new Date(8.64e15)],
  boxes: () => [Object(1), Object("text"), Object(false), Object(Symbol("s")), Object(NaN)],
  "boxes with methods of their own": () => [
    Object.assign(Object(1), { valueOf: () => 7 }),
    Object.assign(Object("a"), { toString: () => "mine" }),
    Object.assign(Object(true), { valueOf: () => false }),
  ],
  "boxes of another prototype": () => [
    Object.setPrototypeOf(Object(3), Object.prototype),
    Object.setPrototypeOf(Object("x"), { toString: () => "y" }),
  ],
  "maps, sets, expressions, errors": () => [
    new Map([[1, 2]]),
    new Set([1]),
    /x/,
    new Error("e"),
    new WeakMap(),
    Promise.resolve(),
  ],
  "typed arrays and buffers": () => [
    new Uint8Array(3),
    new Float64Array([1.5, NaN]),
    Buffer.from("ab"),
    new ArrayBuffer(2),
    new DataView(new ArrayBuffer(2)),
  ],
  "the same object twice is no cycle": () => [shared, { shared, again: shared }],
  "arguments and strings as objects": () =>
    (function give() {
      return arguments;
    })(1, "b"),
  "an array subclass": () => class extends Array {}.from([1, 2]),
  "deep as JSON.stringify goes": () => nested(2000, (inner) => [inner]),
  "deep objects": () => nested(2000, (inner) => ({ a: 1, inner })),
  "deep with long and odd text": () =>
    nested(150, (inner, depth) => ({ [`k${depth}ü"`]: "x".repeat(depth * 20), inner, after: depth })),
};

function nested(depth, wrap) {
  let value = "bottom";
  for (let at = 0; at < depth; at++) value = wrap(value, at);
  return value;
}

test("what is odd about JSON, one by one", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  for (const [title, make] of Object.entries(traps)) await t.test(title, () => assertSame(h, make, title));
});

test("getters, toJSON and proxies see the same calls in the same order as from JSON.stringify, each once", async (t) => {
  const h = await withHost(t);
  const run = async (write) => {
    const calls = [];
    const note = (what, value) => {
      calls.push(what);
      return value;
    };
    const logged = (name, target) =>
      new Proxy(
        target,
        Object.fromEntries(
          ["get", "ownKeys", "getOwnPropertyDescriptor", "has", "getPrototypeOf"].map((trap) => [
            trap,
            (...args) => note(`${name} ${trap} ${trap === "ownKeys" ? "" : String(args[1])}`, Reflect[trap](...args)),
          ]),
        ),
      );
    const value = {
      get a() {
        return note("a", 1);
      },
      get b() {
        return note("b", {
          get c() {
            return note("c", [2]);
          },
          toJSON(key) {
            return note(`toJSON ${key}`, this.c);
          },
        });
      },
      proxy: logged("object", { x: 1, y: [2], toJSON: undefined }),
      list: logged("array", [1, { z: 2 }, , 4]), // eslint-disable-line no-sparse-arrays
      get last() {
        delete this.gone;
        return note("last", undefined);
      },
      gone: 1,
    };
    await write(value);
    return calls;
  };
  let text;
  const theirs = await run((value) => {
    text = JSON.stringify(value, null, 2);
  });
  const ours = await run(async (value) => assert.equal((await written(h, value)).toString(), text));
  assert.deepEqual(ours, theirs);
});

test("BigInt with a toJSON of its own, and raw JSON where there is any", async (t) => {
  const h = await withHost(t);
  const value = function toJSON(key) {
    return `${key}:${this}`;
  };
  // eslint-disable-next-line no-extend-native -- taken off again below
  Object.defineProperty(BigInt.prototype, "toJSON", { value, configurable: true });
  try {
    await assertSame(h, () => ({ a: 1n, b: [2n], boxed: Object(3n) }));
  } finally {
    delete BigInt.prototype.toJSON;
  }
  await rejectsWith(h.files.writeJSON(NAME, Object(1n)), "FS_INVALID_CONTENT");
  if (JSON.rawJSON === undefined) return;
  const raw = (text) => JSON.rawJSON(text);
  await assertSame(h, () => [
    raw("12345678901234567890"),
    { a: raw('"ü\\u0041"') },
    raw("1e1000"),
    raw("null"),
    raw(JSON.stringify("x".repeat(100_000))),
  ]);
});

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

test("deeper than JSON.stringify itself can go, to 10,000 levels", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const depth = 9999;
  const ref = await h.files.writeJSON(
    NAME,
    nested(depth, (inner) => [inner]),
  );
  const hash = createHash("sha256");
  for (let at = 0; at < depth; at++) hash.update(`[\n${"  ".repeat(at + 1)}`);
  hash.update('"bottom"');
  for (let at = depth - 1; at >= 0; at--) hash.update(`\n${"  ".repeat(at)}]`);
  assert.equal(ref.sha256, hash.digest("hex"));
});

/** Ticks of a timer while `work` runs, and the longest time between two. */
async function ticksDuring(work) {
  let count = 0;
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    count++;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  try {
    return { result: await work(), count, longest };
  } finally {
    clearInterval(timer);
  }
}

test("past the longest string, with timers firing all the while", { timeout: 120_000 }, async (t) => {
  const h = await withHost(t, { durability: "none", trace: { diff: false } });
  const row = { text: "lorem ipsum dolor sit amet ".repeat(20_000), list: [1, { ü: "\n" }] };
  const count = 1200;
  const began = performance.now();
  let result;
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  try {
    result = await h.files.writeJSON(
      "/session/big.json",
      Array.from({ length: count }, () => row),
    );
  } finally {
    clearInterval(timer);
  }
  const took = performance.now() - began;
  const text = JSON.stringify(row, null, 2).replaceAll("\n", "\n  ");
  const hash = createHash("sha256").update("[");
  for (let at = 0; at < count; at++) hash.update(`${at === 0 ? "" : ","}\n  ${text}`);
  assert.equal(result.sha256, hash.update("\n]").digest("hex"));
  assert.ok(result.bytes > 600e6, "more than a string can hold");
  assert.ok(took < 60_000, `took ${Math.round(took)} ms`);
  assert.ok(ticks > 20, `only ${ticks} ticks in ${Math.round(took)} ms`);
  assert.equal(fs.statSync(path.join(h.roots.session, "big.json")).size, result.bytes);
  await h.files.remove("/session/big.json");
});

const busy = {
  "many rows": () =>
    Array.from({ length: 300_000 }, (_, id) => ({ id, name: `User ${id}`, amount: id * 1.37, active: id % 3 === 0 })),
  "much that leaves no text": () =>
    Array.from({ length: 1000 }, () =>
      Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, undefined])),
    ),
  "a long hole": () => {
    const array = [];
    array.length = 2_000_000;
    return array;
  },
  "one long string to escape": () => '"\n'.repeat(10_000_000),
};
for (const [title, make] of Object.entries(busy)) {
  test(`timers go on firing: ${title}`, { timeout: 120_000 }, async (t) => {
    const h = await withHost(t, { durability: "none", trace: { diff: false } });
    const value = make();
    const { result, count, longest } = await ticksDuring(() => h.files.writeJSON(NAME, value));
    const text = Buffer.from(JSON.stringify(value, null, 2));
    assert.equal(result.sha256, createHash("sha256").update(text).digest("hex"));
    // Loose, since other programs run too; stringifying at once would be a single stall of the whole time.
    assert.ok(count >= 3 && longest < 1000, `${count} ticks, the longest wait ${Math.round(longest)} ms`);
  });
}
