// writeJSON writes JSON.stringify(value, null, 2), byte for byte, for every value.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rejectsWith, withHost } from "./support/host.mjs";
import { assertSame, NAME, nested, withToJSON, written } from "./support/json-text.mjs";

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
