// What JSON cannot hold has a stated form, inline and in files; what it can hold stays the same object. See DESIGN section 5.
import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { HarnessFileError, harnessToolContext, isToolResultFile } from "@little-stack/files";
import { withHost } from "./support/host.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { begin, bytesOf, modelBytes, toolOf } from "./support/turns.mjs";

const circular = () => {
  const ring = { name: "ring", list: [] };
  ring.self = ring;
  ring.list.push(ring.list, { up: ring });
  return ring;
};
const coded = Object.assign(new TypeError("it broke"), { code: "E_BROKE", secret: "kept back" });
class Point {
  constructor() {
    this.x = 1;
  }
  get y() {
    return 2;
  }
  toString() {
    return "point";
  }
}
class Money {
  toJSON() {
    return { amount: 5n };
  }
}

const stated = {
  "a BigInt": [12n, "12"],
  "a BigInt inside": [{ id: 2n ** 64n }, { id: "18446744073709551616" }],
  "a cycle": [circular(), { name: "ring", list: ["[Circular]", { up: "[Circular]" }], self: "[Circular]" }],
  "a Map": [
    new Map([
      ["a", 1],
      [{ k: 1 }, new Map()],
    ]),
    [
      ["a", 1],
      [{ k: 1 }, []],
    ],
  ],
  "a Set": [new Set([1, "a", new Set()]), [1, "a", []]],
  "an Error": [coded, { name: "TypeError", message: "it broke", code: "E_BROKE" }],
  "an Error inside": [[new RangeError("no")], [{ name: "RangeError", message: "no" }]],
  "an error of ours": [
    { e: new HarnessFileError("FS_BUSY", "later") },
    { e: { name: "HarnessFileError", message: "[FS_BUSY] later", code: "FS_BUSY" } },
  ],
  "a function": [function lookUp() {}, "[function lookUp]"],
  "functions and symbols inside": [
    { f: () => {}, g() {}, s: Symbol("it"), t: Symbol() },
    { f: "[function f]", g: "[function g]", s: "[symbol it]", t: "[symbol]" },
  ],
  "a symbol": [Symbol("mark"), "[symbol mark]"],
  "a nested Buffer": [{ data: Buffer.alloc(3000) }, { data: { type: "bytes", bytes: 3000 } }],
  "nested bytes of every kind": [
    [new Uint8Array(2), new ArrayBuffer(3), new DataView(new ArrayBuffer(4)), new Float64Array(1)],
    [2, 3, 4, 8].map((bytes) => ({ type: "bytes", bytes })),
  ],
  "what structuredClone refuses, as some SDKs copy outputs": [
    [new Proxy({ a: 1 }, {}), { p: Promise.resolve() }, new WeakMap()],
    [{ a: 1 }, { p: {} }, {}],
  ],
  "toJSON that throws": [
    {
      ok: 1,
      bad: {
        toJSON() {
          throw new TypeError("no");
        },
      },
    },
    { ok: 1, bad: "[unreadable: TypeError]" },
  ],
  "a getter that throws": [
    Object.defineProperty({ ok: 1 }, "bad", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    }),
    { ok: 1, bad: "[unreadable: Error]" },
  ],
  "toJSON that throws at the top": [
    {
      toJSON() {
        throw "no";
      },
    },
    "[unreadable: string]",
  ],
  "a revoked proxy": [
    [
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    ],
    ["[unreadable: TypeError]"],
  ],
  "what toJSON gives": [{ price: new Money() }, { price: { amount: "5" } }],
  "things of another realm": [
    vm.runInNewContext("({ m: new Map([[1n, new Error('x')]]), b: new Uint8Array(5) })"),
    { m: [["1", { name: "Error", message: "x" }]], b: { type: "bytes", bytes: 5 } },
  ],
  "members named like ours": [
    { ["__proto__"]: 1n, ...JSON.parse('{"__proto__": {"a": 1}}'), toJSON: 5n },
    JSON.parse('{"__proto__": {"a": 1}, "toJSON": "5"}'),
  ],
};

for (const [name, [value, form]] of Object.entries(stated)) {
  test(`${name}: a stated form, inline and in a file`, async (t) => {
    const h = await withHost(t);
    const turn = await begin(t, h.main);
    const inline = await toolOf(turn, () => value)();
    assert.deepEqual(plain(inline), form);
    assert.deepEqual(structuredClone(inline), inline);
    assert.equal(JSON.stringify(inline), JSON.stringify(form));
    const output = await toolOf(turn, () => [value, "x".repeat(20_000)])({}, { toolCallId: "large" });
    assert.ok(isToolResultFile(output) && output.summary.format === "json");
    assert.deepEqual(JSON.parse(await bytesOf(h.main, output.path))[0], form);
  });
}

/** Of whatever prototype it has. */
const plain = (value) => (typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value);

const held = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  zero: -0,
  false: false,
  "an empty string": "",
  text: "text",
  "a Date": new Date(0),
  "an invalid Date": new Date(Number.NaN),
  "dates inside": { at: new Date(5) },
  "undefined members": { a: undefined, b: [undefined] },
  "numbers JSON has no form for": [Infinity, Number.NaN],
  "an object without prototype": Object.assign(Object.create(null), { a: 1 }),
  "an instance of a class": new Point(),
  "a frozen object": Object.freeze({ a: Object.freeze([1]) }),
  "an error that has toJSON": Object.assign(new Error("x"), { toJSON: () => ({ mine: 1 }) }),
  "a sparse array": [1, , 3], // eslint-disable-line no-sparse-arrays
  "the same object twice": (() => {
    const row = { id: 1 };
    return [row, row, { row }];
  })(),
  boxes: [Object("s"), Object(1), Object(false)],
  "a small Buffer": Buffer.from("bytes"),
  "a small Uint8Array": new Uint8Array(10),
  "a small ArrayBuffer": new ArrayBuffer(10),
};
for (const [name, value] of Object.entries(held)) {
  test(`${name}: JSON can hold it, so it is the same value`, async (t) => {
    const h = await withHost(t);
    const turn = await begin(t, h.main);
    assert.ok(Object.is(await toolOf(turn, () => value)(), value));
    assert.ok(Object.is(await toolOf(turn, async () => value)(), value));
  });
}

test("what JSON can hold and structuredClone may refuse is the same, or the same to a model", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  for (const value of [new URL("https://example.org/"), { url: new URL("https://example.org/"), n: 1 }]) {
    const output = await toolOf(turn, () => value)();
    assert.equal(JSON.stringify(output), JSON.stringify(value));
    structuredClone(output);
  }
});

test("large bytes: raw in a file", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const content = Buffer.from(Uint8Array.from({ length: 20_000 }, (_, at) => at));
  const shared = new Uint8Array(new SharedArrayBuffer(20_000));
  shared.set(content);
  const backing = new ArrayBuffer(30_000);
  const view = new Uint8Array(backing, 5000, 20_000);
  view.set(content);
  for (const [at, value] of [
    content,
    new Uint8Array(content),
    view,
    shared,
    Uint8Array.from(content).buffer,
  ].entries()) {
    const output = await toolOf(turn, () => value)({}, { toolCallId: `c${at}` });
    assert.deepEqual(
      { ...output.summary, mediaType: output.mediaType },
      { format: "binary", mediaType: "application/octet-stream" },
    );
    assert.ok((await bytesOf(h.main, output.path)).equals(content));
  }
  // What JSON makes of bytes is several times their size, and that is what counts.
  assert.ok(isToolResultFile(await toolOf(turn, () => Buffer.alloc(6000, 200))({}, { toolCallId: "json" })));
  const detached = new ArrayBuffer(20_000);
  structuredClone(detached, { transfer: [detached] });
  assert.equal(modelBytes(await toolOf(turn, () => detached)()), 2);
});

test("a long BigInt, an Error with a long text, a Map of many: over the limit, in their form", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const big = 10n ** 20_000n;
  const cases = {
    big: [big, "txt", String(big)],
    error: [new Error("x".repeat(20_000)), "json"],
    map: [new Map(Array.from({ length: 3000 }, (_, id) => [id, `v${id}`])), "json"],
  };
  for (const [name, [value, extension, text]] of Object.entries(cases)) {
    const output = await toolOf(turn, () => value)({}, { toolCallId: name });
    assert.equal(output.path, `/artifacts/tool-results/query/${name}.${extension}`);
    const stored = (await bytesOf(h.main, output.path)).toString();
    if (text !== undefined) assert.equal(stored, text);
    if (name === "map") assert.deepEqual(JSON.parse(stored), [...value]);
    if (name === "error") assert.deepEqual(JSON.parse(stored), { name: "Error", message: value.message });
  }
});

test("a FileData is its text, or a reference to the file that is there already", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const small = "the text\n";
  const large = `${"🟡 a line\n".repeat(3000)}`;
  await h.files.write("/session/small.txt", small);
  const { sha256, bytes } = await h.files.write("/session/large.json", large);
  await h.files.write("/session/pic.png", Buffer.from([0x89, 0xff, 0xfe]));
  const read = (name, more) =>
    toolOf(turn, async (_, options) => {
      const data = await harnessToolContext(options).files.read(`/session/${name}`);
      return more ? more(data) : data;
    })();
  assert.equal(await read("small.txt"), small);
  const reference = await read("large.json");
  assert.ok(isToolResultFile(reference) && modelBytes(reference) <= 16_384);
  assert.deepEqual(
    [reference.path, reference.bytes, reference.sha256, reference.summary.format],
    ["/session/large.json", bytes, sha256, "json"],
  );
  assert.ok(large.startsWith(reference.preview) && reference.preview.length > 200 && reference.preview.isWellFormed());
  const image = await read("pic.png");
  assert.deepEqual(
    [image.path, image.mediaType, image.summary.format, image.preview],
    ["/session/pic.png", "image/png", "binary", ""],
  );
  assert.deepEqual(await read("small.txt", (data) => ({ data, n: 1 })), { data: small, n: 1 });
  const nested = await read("large.json", (data) => ({ data }));
  assert.deepEqual(nested.data.path, "/session/large.json");
  assert.deepEqual((await turn.finish()).files.written, [], "nothing was copied");
});

test("a FileData whose path leaves no room for a reference is stored like any text", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const path = `/session/${"deep folder/".repeat(80)}f.txt`;
  await h.files.write(path, "x".repeat(5000));
  const output = await toolOf(turn, () => h.files.read(path), { wrap: { offload: { maxInlineBytes: 1024 } } })();
  assert.equal(output.path, "/artifacts/tool-results/query/call-1.txt");
  assert.ok(modelBytes(output) <= 1024);
  await h.files.write(`${path}.bin`, Buffer.alloc(5000, 0xff));
  const nested = await toolOf(turn, async () => ({ data: await h.files.read(`${path}.bin`) }), {
    wrap: { offload: { maxInlineBytes: 1024 } },
  })();
  assert.deepEqual(nested, { data: { type: "bytes", bytes: 5000 } });
});

test("endless toJSON and a value that grows for ever end in an error of the call", async (t) => {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const endless = {
    toJSON() {
      return { again: { ...endless } };
    },
  };
  await assert.rejects(toolOf(turn, () => endless)(), { code: "FS_INVALID_CONTENT", message: /too deep/ });
  assert.deepEqual((await turn.finish()).files.written, []);
});

test("odd values of any size leave the event loop alone", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t, { trace: false });
  const turn = await begin(t, h.main);
  const map = new Map(Array.from({ length: 300_000 }, (_, id) => [id, { id: BigInt(id) }]));
  await staysResponsive(async () => assert.ok(isToolResultFile(await toolOf(turn, () => map)())));
});
