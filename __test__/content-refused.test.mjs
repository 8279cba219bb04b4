// What is no content, and streams that are not ours to read: refused, the old file stands, nothing is left.
import assert from "node:assert/strict";
import { PassThrough, Readable, Stream } from "node:stream";
import { test } from "node:test";
import { rejectsWith } from "./support/host.mjs";
import { assertUntouched, NAME, withOld } from "./support/old-file.mjs";
import { bytes, later, now, web } from "./support/sources.mjs";

const detached = () => {
  const { buffer } = bytes(10);
  const view = new Uint8Array(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  return view;
};
const noContent = {
  undefined: () => undefined,
  null: () => null,
  "a number": () => 7,
  "a boolean": () => true,
  "a BigInt": () => 1n,
  "a symbol": () => Symbol("s"),
  "a function": () => () => {},
  "a generator function": () => now,
  "an object": () => ({ a: 1 }),
  "an empty array": () => [],
  "an array of numbers": () => [1, 2],
  "an array of strings": () => ["a"],
  "a nested array": () => [[bytes(1)]],
  "a Map": () => new Map([[bytes(1), bytes(1)]]),
  "an empty Map": () => new Map(),
  "an empty Set": () => new Set(),
  "a Set of strings": () => new Set(["a"]),
  "a WeakMap": () => new WeakMap(),
  FormData: () => new FormData(),
  URLSearchParams: () => new URLSearchParams("a=1"),
  Headers: () => new Headers({ a: "b" }),
  "a promise": () => Promise.resolve("x"),
  "a Response": () => new Response("x"),
  "a Request": () => new Request("http://localhost/", { method: "POST", body: "x" }),
  "a Date": () => new Date(),
  "an Error": () => new Error("x"),
  "a String object": () => Object("text"),
  "an old stream": () => new Stream(),
  "a sync generator of strings": () => now(["a"]),
  "an async generator of numbers": () => later([bytes(2), 5]),
  "an async generator of undefined": () => later([undefined]),
  "an async generator of arrays": () => later([[1, 2]]),
  "a web stream of objects": () => web([{}]),
  "a web stream of null": () => web([null]),
  "a Readable of objects": () => Readable.from([{}]),
  "a Readable of Blobs": () => Readable.from([new Blob(["x"])]),
  "an iterator that gives no results": () => ({ [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }),
  "a detached buffer": detached,
  "a detached ArrayBuffer": () => detached().buffer,
  "a chunk that is detached": () => later([bytes(3), detached()]),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "an object whose getters throw": () => ({
    get getReader() {
      throw new Error("no");
    },
  }),
};
test("what is no content", async (t) => {
  const h = await withOld(t);
  for (const [title, make] of Object.entries(noContent)) {
    await t.test(title, async () => {
      for (const method of ["write", "writeText"]) {
        const error = await rejectsWith(h.files[method](NAME, make()), "FS_INVALID_CONTENT", { path: NAME });
        assert.ok(error.message.endsWith(NAME));
      }
      await assertUntouched(h);
    });
  }
});

const spent = {
  "a web stream that is locked": () => {
    const stream = web([bytes(3)]);
    stream.getReader();
    return stream;
  },
  "a web stream that was read from": async () => {
    const stream = web([bytes(3), bytes(3)]);
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    return stream;
  },
  "a web stream that was cancelled": async () => {
    const stream = web([bytes(3)]);
    await stream.cancel();
    return stream;
  },
  "a body that was consumed": async () => {
    const response = new Response("x");
    await response.text();
    return response.body;
  },
  "a body that is being read": () => {
    const response = new Response("x");
    response.text();
    return response.body;
  },
  "a reader that is refused": () => ({
    getReader() {
      throw new TypeError("locked");
    },
  }),
  "a Readable that was read from": async () => {
    const stream = Readable.from([bytes(3), bytes(3)]);
    await stream[Symbol.asyncIterator]().next();
    return stream;
  },
  "a Readable that has ended": async () => {
    const stream = Readable.from(["x"]);
    await stream.toArray();
    return stream;
  },
  "a Readable that is destroyed": () => Readable.from(["x"]).destroy(),
  "a Readable that somebody else reads": () => new Readable({ read() {} }).on("data", () => {}),
  "a Readable that is piped": () => {
    const stream = new Readable({ read() {} });
    stream.pipe(new PassThrough()).resume();
    return stream;
  },
};
test("streams that are not ours to read are refused and left as they were", async (t) => {
  const h = await withOld(t);
  for (const [title, make] of Object.entries(spent)) {
    await t.test(title, async () => {
      const stream = await make();
      const { locked, destroyed } = stream;
      await rejectsWith(h.files.write(NAME, stream), "FS_INVALID_CONTENT", { path: NAME });
      await assertUntouched(h);
      assert.deepEqual([stream.locked, stream.destroyed], [locked, destroyed]);
    });
  }
});

test("a Readable that failed before: its error is the cause", async (t) => {
  const h = await withOld(t);
  const failure = new Error("early");
  const stream = Readable.from(["x"])
    .on("error", () => {})
    .destroy(failure);
  const error = await rejectsWith(h.files.write(NAME, stream), "FS_INVALID_CONTENT");
  assert.equal(error.cause, failure);
  await assertUntouched(h);
});
