// Every kind of content is written as what it holds, and every kind of refusal and failure leaves the old file, an empty
// staging folder, a source that was told once, and no listener.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { Duplex, PassThrough, Readable, Stream } from "node:stream";
import { test } from "node:test";
import vm from "node:vm";
import fc from "fast-check";
import { after, rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { leftovers, sha256 } from "./support/tree.mjs";

const NAME = "/session/content.bin";
const MIB = 2 ** 20;
const bytes = (length, seed = 1) => Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 0xff);
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A host whose file NAME says "old". */
async function withOld(t, options = {}) {
  const h = await withHost(t, { trace: { diff: false }, ...options });
  await h.files.write(NAME, "old");
  return h;
}

async function assertUntouched(h) {
  assert.equal((await h.files.read(NAME)).text(), "old");
  assert.deepEqual(leftovers(h.dataDir), []);
}

async function assertWrites(h, content, expected, note) {
  const wanted = Buffer.from(expected);
  const ref = await h.files.write(NAME, content);
  assert.equal(ref.bytes, wanted.length, note);
  assert.equal(ref.sha256, sha256(wanted), note);
  assert.ok(wanted.equals(Buffer.from((await h.files.read(NAME)).content)), note);
  return ref;
}

const big = bytes(3 * MIB + 12_345);
async function* later(chunks) {
  for (const chunk of chunks) {
    await turn();
    yield chunk;
  }
}
function* now(chunks) {
  yield* chunks;
}
const web = (chunks, type) => {
  const left = [...chunks];
  return new ReadableStream({
    type,
    pull: (controller) => (left.length > 0 ? controller.enqueue(left.shift()) : controller.close()),
  });
};
const cut = (all, size) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
const words = new Uint16Array(bytes(64).buffer, 8, 20);
const shared = (all) => {
  const view = new Uint8Array(new SharedArrayBuffer(all.length + 4), 4);
  view.set(all);
  return view;
};

const kinds = {
  "a string": () => ["text ü 日本 😀", "text ü 日本 😀"],
  "an empty string": () => ["", ""],
  "a string of a few MiB": () => ["ü😀x".repeat(600_000), "ü😀x".repeat(600_000)],
  "a string with lone surrogates": () => ["a\ud800b\udc00", "a\ufffdb\ufffd"],
  "an ArrayBuffer": () => [bytes(10).buffer, bytes(10)],
  "an empty ArrayBuffer": () => [new ArrayBuffer(0), ""],
  "a Uint8Array with an offset": () => [bytes(100).subarray(10, 20), bytes(100).subarray(10, 20)],
  "a Buffer from the pool": () => [Buffer.from("pooled"), "pooled"],
  "a Uint16Array with an offset": () => [words, Buffer.from(words.buffer, 8, 40)],
  "a Float64Array": () => [new Float64Array([1, -0]), Buffer.from(new Float64Array([1, -0]).buffer)],
  "a BigInt64Array": () => [new BigInt64Array([1n]), Buffer.from(new BigInt64Array([1n]).buffer)],
  "a DataView with an offset": () => [new DataView(bytes(20).buffer, 3, 5), bytes(20).subarray(3, 8)],
  "a view on shared memory": () => [shared(bytes(50)), bytes(50)],
  "shared memory": () => [shared(bytes(50)).buffer, Buffer.concat([Buffer.alloc(4), bytes(50)])],
  "a buffer of another realm": () => [vm.runInNewContext("new Uint8Array([1, 2, 3])"), [1, 2, 3]],
  "a buffer of just 8 MiB": () => [bytes(8 * MIB), bytes(8 * MIB)],
  "a buffer over 8 MiB": () => [bytes(8 * MIB + 1), bytes(8 * MIB + 1)],
  "a Blob": () => [new Blob(["one ", bytes(5), "ü"]), Buffer.concat([Buffer.from("one "), bytes(5), Buffer.from("ü")])],
  "an empty Blob": () => [new Blob([]), ""],
  "a large Blob": () => [new Blob([big]), big],
  "a File": () => [new File(["a file"], "name.txt"), "a file"],
  "a web stream": () => [web(cut(big, 65_536)), big],
  "an empty web stream": () => [web([]), ""],
  "a web byte stream": () => [web(cut(big, 65_536), "bytes"), big],
  "a web stream of every chunk there is": () => [
    web(["a", bytes(3), words, bytes(2).buffer, new DataView(bytes(9).buffer, 1), new Uint8Array(), ""]),
    Buffer.concat([Buffer.from("a"), bytes(3), Buffer.from(words.buffer, 8, 40), bytes(2), bytes(9).subarray(1)]),
  ],
  "the body of a Response": () => [new Response("a body").body, "a body"],
  "a stream with a reader of its own": () => [
    {
      getReader: () => {
        const left = [bytes(3), bytes(4)];
        return {
          read: async () => ({ done: left.length === 0, value: left.shift() }),
          cancel: async () => {},
          releaseLock() {},
        };
      },
    },
    Buffer.concat([bytes(3), bytes(4)]),
  ],
  "a Readable": () => [Readable.from(cut(Buffer.from(big), 65_536), { objectMode: false }), big],
  "an empty Readable": () => [Readable.from([]), ""],
  "a Readable in object mode": () => [
    Readable.from([bytes(5), "text", words]),
    Buffer.concat([bytes(5), Buffer.from("text"), Buffer.from(words.buffer, 8, 40)]),
  ],
  "a Readable with an encoding": () => [
    Readable.from([Buffer.from("hällo")], { objectMode: false }).setEncoding("utf8"),
    "hällo",
  ],
  "a Readable that never emits close": () => [
    new Readable({
      emitClose: false,
      autoDestroy: false,
      read() {
        this.push("quiet");
        this.push(null);
      },
    }),
    "quiet",
  ],
  "a PassThrough that is written to meanwhile": () => {
    const pass = new PassThrough();
    setImmediate(() => {
      pass.write("late ");
      setImmediate(() => pass.end("end"));
    });
    return [pass, "late end"];
  },
  "a Duplex made of an iterable": () => [Duplex.from(later([Buffer.from("duplex")])), "duplex"],
  "an async generator": () => [later(cut(big, 100_000)), big],
  "an async generator of strings and bytes": () => [
    later(["a", bytes(2), "", "ü"]),
    Buffer.concat([Buffer.from("a"), bytes(2), Buffer.from("ü")]),
  ],
  "an async iterable without return": () => {
    const left = [bytes(3)];
    return [
      { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: left.length === 0, value: left.shift() }) }) },
      bytes(3),
    ];
  },
  "an empty async generator": () => [later([]), ""],
  "a sync generator": () => [now(cut(big, 65_536)), big],
  "an empty sync generator": () => [now([]), ""],
  "an array of chunks": () => [
    [bytes(3), words, bytes(2).buffer],
    Buffer.concat([bytes(3), Buffer.from(words.buffer, 8, 40), bytes(2)]),
  ],
  "a Set of chunks": () => [new Set([bytes(3), bytes(4)]), Buffer.concat([bytes(3), bytes(4)])],
  "pairs of surrogates over chunks": () => [
    later(["\ud83d", "\ude00", "x\ud83d", "", "\ude00\ud83d", bytes(1), "\ude00", "\ud83d"]),
    Buffer.concat([Buffer.from("😀x😀\ufffd"), bytes(1), Buffer.from("\ufffd\ufffd")]),
  ],
  "many chunks of one byte": () => [
    later(Array.from({ length: 20_000 }, () => new Uint8Array(1))),
    new Uint8Array(20_000),
  ],
  "one chunk of many MiB": () => [later([big, big]), Buffer.concat([big, big])],
  "chunks as long as a batch": () => [later([bytes(MIB), bytes(MIB, 2)]), Buffer.concat([bytes(MIB), bytes(MIB, 2)])],
  "strings about the end of a batch": () => [
    later([bytes(MIB - 1), "😀", bytes(MIB - 3), "ü"]),
    Buffer.concat([bytes(MIB - 1), Buffer.from("😀"), bytes(MIB - 3), Buffer.from("ü")]),
  ],
};

test("every kind of content", async (t) => {
  const h = await withOld(t);
  for (const [title, make] of Object.entries(kinds)) {
    await t.test(title, async () => {
      const [content, expected] = make();
      await assertWrites(h, content, expected);
      assert.deepEqual(leftovers(h.dataDir), []);
      if (typeof content.getReader === "function") assert.ok(!content.locked, "the lock is given back");
    });
  }
});

test("property: the same bytes in any chunking, as any kind, give the same ref", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom(0, 1, 65_536, MIB - 1, MIB, MIB + 1).map((length) => bytes(length)),
  );
  const streams = [web, (chunks) => Readable.from(chunks), later, now, (chunks) => new Blob(chunks)];
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.nat(streams.length - 1), async (chunks, kind) => {
      const whole = Buffer.concat(chunks);
      const direct = await h.files.write("/session/direct", whole);
      const streamed = await h.files.write("/session/streamed", streams[kind](chunks));
      assert.deepEqual([streamed.bytes, streamed.sha256], [whole.length, sha256(whole)]);
      assert.deepEqual([direct.bytes, direct.sha256], [whole.length, sha256(whole)]);
    }),
    { numRuns: 60 },
  );
});

test("property: text in any chunks, pairs parted or not, gives the bytes of the whole text", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const unit = fc
    .oneof(fc.integer({ min: 0xd7fe, max: 0xe001 }), fc.integer({ min: 0, max: 0xffff }))
    .map((code) => String.fromCharCode(code));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit, maxLength: 6 }), { maxLength: 8 }), async (chunks) => {
      await assertWrites(h, later(chunks), chunks.join(""));
      await assertWrites(h, chunks.join(""), chunks.join(""));
    }),
    { numRuns: 100 },
  );
});

test("media types: the Blob's, else the extension's; an option wins over both", async (t) => {
  const { files } = await withHost(t);
  const blob = (type) => new Blob(["x"], { type });
  assert.equal((await files.write("/session/a.txt", blob("image/png"))).mediaType, "image/png");
  assert.equal((await files.write("/session/a.txt", blob(""))).mediaType, "text/plain");
  assert.equal((await files.write("/session/a.txt", blob("image/png"), { mediaType: "a/b" })).mediaType, "a/b");
  assert.equal(
    (await files.write("/session/a.txt", new File(["x"], "x.json", { type: "application/json" }))).mediaType,
    "application/json",
  );
  assert.equal((await files.write("/session/a", "x")).mediaType, undefined);
  assert.equal((await files.writeText("/session/a", "x")).mediaType, "text/plain");
  assert.match((await files.writeText("/session/a.md", "x")).mediaType, /markdown/);
  assert.equal((await files.writeJSON("/session/a.txt", 1)).mediaType, "application/json");
});

test("a buffer up to 8 MiB may be changed, or given away, as soon as the call has returned", async (t) => {
  const h = await withHost(t);
  for (const length of [5, 4096, MIB, 8 * MIB]) {
    const mine = bytes(length);
    const wanted = sha256(mine);
    const writing = h.files.write(NAME, mine);
    mine.fill(0);
    structuredClone(mine.buffer, { transfer: [mine.buffer] });
    assert.equal((await writing).sha256, wanted, `${length} bytes`);
  }
  const view = shared(bytes(1000));
  const writing = h.files.write(NAME, view);
  view.fill(0);
  assert.equal((await writing).sha256, sha256(bytes(1000)));
});

test("shared memory that another hand changes all the while: the hash is that of the file", async (t) => {
  const h = await withHost(t);
  for (const length of [100_000, 10 * MIB]) {
    const view = shared(bytes(length));
    const timer = setInterval(() => view.fill(Math.random() * 256), 0);
    const ref = await h.files.write(NAME, view).finally(() => clearInterval(timer));
    assert.equal(ref.sha256, sha256(fs.readFileSync(path.join(h.roots.session, "content.bin"))));
  }
});

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

// ── Sources that are watched ───────────────────────────────────────────────────────────────────────────────────────────

/** Each gives { content, told, pulls }: `next(at)` gives chunk `at`, undefined for the end, or throws. `told` counts cancels. */
const watched = {
  "web stream": (next) => {
    const seen = { told: 0, pulls: 0 };
    const pull = async (controller) => {
      const given = await next(seen.pulls++);
      if (given === undefined) controller.close();
      else controller.enqueue(given);
    };
    const content = new ReadableStream(
      {
        pull,
        cancel: () => {
          seen.told++;
        },
      },
      { highWaterMark: 0 },
    );
    return Object.assign(seen, { content });
  },
  "web byte stream": (next) => {
    const seen = { told: 0, pulls: 0 };
    const pull = async (controller) => {
      const given = await next(seen.pulls++);
      if (given === undefined) controller.close();
      else controller.enqueue(given);
    };
    return Object.assign(seen, {
      content: new ReadableStream({
        type: "bytes",
        pull,
        cancel: () => {
          seen.told++;
        },
      }),
    });
  },
  Readable: (next) => {
    const seen = { told: 0, pulls: 0, stream: true };
    seen.content = new Readable({
      objectMode: true,
      highWaterMark: 1,
      read() {
        (async () => next(seen.pulls++))().then(
          (given) => this.push(given ?? null),
          (error) => this.destroy(error),
        );
      },
      destroy(error, done) {
        if (!error && !this.readableEnded) seen.told++;
        done(error);
      },
    });
    return seen;
  },
  "async iterator": (next) => {
    const seen = { told: 0, pulls: 0 };
    const iterator = {
      next: async () => {
        const value = await next(seen.pulls++);
        return { done: value === undefined, value };
      },
      return: async () => {
        seen.told++;
        return { done: true };
      },
    };
    return Object.assign(seen, { content: { [Symbol.asyncIterator]: () => iterator } });
  },
  "async generator": (next) => {
    const seen = { told: 0, pulls: 0 };
    seen.content = (async function* generate() {
      let over = false;
      try {
        for (;;) {
          let given;
          try {
            given = await next(seen.pulls++);
          } catch (error) {
            over = true;
            throw error;
          }
          if (given === undefined) {
            over = true;
            return;
          }
          yield given;
        }
      } finally {
        if (!over) seen.told++;
      }
    })();
    return seen;
  },
  "sync iterator": (next) => {
    const seen = { told: 0, pulls: 0 };
    const iterator = {
      next: () => {
        const value = next(seen.pulls++);
        return { done: value === undefined, value };
      },
      return: () => {
        seen.told++;
        return { done: true };
      },
    };
    return Object.assign(seen, { content: { [Symbol.iterator]: () => iterator } });
  },
  "reader of another make": (next) => {
    const seen = { told: 0, pulls: 0, released: 0 };
    const reader = {
      read: async () => {
        const value = await next(seen.pulls++);
        return { done: value === undefined, value };
      },
      cancel: async () => {
        seen.told++;
        throw new Error("cancel fails");
      },
      releaseLock: () => {
        seen.released++;
      },
    };
    return Object.assign(seen, { content: { getReader: () => reader } });
  },
};
const asynchronous = Object.entries(watched).filter(([kind]) => kind !== "sync iterator");
const LENGTH = 300_000;
/** A new one each time: byte streams take the buffer away. */
const chunk = () => bytes(LENGTH);

function assertNoListeners(stream) {
  for (const event of ["readable", "end", "data", "close"]) assert.equal(stream.listenerCount(event), 0, event);
  assert.equal(stream.listenerCount("error"), 0, "error");
}

for (const [kind, watch] of Object.entries(watched)) {
  test(`${kind}: all goes well, nobody is told`, async (t) => {
    const h = await withOld(t);
    const seen = watch((at) => (at < 9 ? chunk() : undefined));
    const ref = await h.files.write(NAME, seen.content);
    assert.equal(ref.bytes, 9 * LENGTH);
    assert.equal(seen.told, 0);
    if (seen.released !== undefined) assert.ok(seen.released >= 1);
    await turn();
    if (seen.stream) assertNoListeners(seen.content);
  });

  test(`${kind}: fails at every chunk`, async (t) => {
    const h = await withOld(t);
    for (let bad = 0; bad < 9; bad++) {
      const failure = Object.assign(new RangeError("secret text"), { code: "ESOURCE" });
      const seen = watch((at) => {
        if (at === bad) throw failure;
        return chunk();
      });
      const error = await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", { path: NAME });
      assert.equal(error.cause, failure, "the very error of the source");
      assert.ok(!error.message.includes("secret text") && error.message.includes("ESOURCE"), error.message);
      assert.equal(seen.told, 0, "what failed by itself needs no telling");
      assert.equal(seen.pulls, bad + 1);
      await assertUntouched(h);
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: a chunk that is no bytes, at every place`, async (t) => {
    const h = await withOld(t);
    for (let bad = 0; bad < 9; bad++) {
      const seen = watch((at) => (at === bad ? { no: "bytes" } : chunk()));
      if (kind === "web byte stream") {
        // refuses it by itself
        const error = await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", { path: NAME });
        assert.ok(error.cause instanceof TypeError);
      } else {
        await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", {
          path: NAME,
          message: new RegExp(`Chunk ${bad + 1} `),
        });
        assert.equal(seen.told, 1, `told once, at chunk ${bad}`);
      }
      await assertUntouched(h);
      await turn();
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: told once when the call is refused before a byte was read, whatever refuses it`, async (t) => {
    const h = await withOld(t);
    const closed = await h.host.sessions.getOrCreate({ id: "closed" });
    await closed.close();
    const refusals = [
      ["FS_INVALID_PATH", (content) => h.files.write("/session/../x", content)],
      ["FS_INVALID_PATH", (content) => h.files.write(7, content)],
      ["FS_SANDBOX_DENIED", (content) => h.files.write("/etc/x", content)],
      ["FS_INVALID_OPTION", (content) => h.files.write(NAME, content, { ifMatch: "x" })],
      ["FS_INVALID_OPTION", (content) => h.files.write(NAME, content, 7)],
      ["FS_ABORTED", (content) => h.files.write(NAME, content, { signal: AbortSignal.abort() })],
      ["FS_CLOSED", (content) => closed.files.write(NAME, content)],
    ];
    for (const [code, write] of refusals) {
      const seen = watch(() => chunk());
      await rejectsWith(write(seen.content), code);
      await turn();
      if (kind === "async generator")
        assert.ok((await seen.content.next()).done, "a generator that has not begun is over");
      else assert.equal(seen.told, 1, `${code}: told once`);
      if (kind !== "web byte stream") assert.equal(seen.pulls, 0, `${code}: not read`);
      if (seen.stream) assertNoListeners(seen.content);
    }
    await assertUntouched(h);
  });

  test(`${kind}: told once when the write is refused in the end or on the way`, async (t) => {
    const h = await withOld(t, { quota: { fileBytes: 2 * MIB } });
    const endless = watch(() => chunk());
    await rejectsWith(h.files.write(NAME, endless.content), "FS_QUOTA_EXCEEDED", { path: NAME });
    assert.equal(endless.told, 1);
    assert.ok(endless.pulls < 40, `${endless.pulls} chunks were asked for: no more than a few batches ahead`);
    const whole = watch((at) => (at < 5 ? chunk() : undefined));
    await rejectsWith(h.files.write(NAME, whole.content, { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS", { path: NAME });
    assert.equal(whole.told, 0, "it had ended");
    await assertUntouched(h);
  });
}

// ── Signals ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const listeners = (signal) => getEventListeners(signal, "abort").length;

test("aborted before: nothing is done, by any method; the cause is the reason", async (t) => {
  const h = await withOld(t);
  const reason = new Error("enough");
  const options = { signal: AbortSignal.abort(reason) };
  for (const call of [
    () => h.files.write(NAME, "new", options),
    () => h.files.writeText(NAME, "new", options),
    () =>
      h.files.writeJSON(
        NAME,
        {
          get a() {
            throw new Error("read");
          },
        },
        options,
      ),
    () => h.files.read(NAME, options),
    () => h.files.readStream(NAME, options),
    () => h.files.list("/session", options),
    () => h.files.remove(NAME, options),
  ]) {
    const error = await rejectsWith(call(), "FS_ABORTED");
    assert.equal(error.cause, reason);
    assert.equal(listeners(options.signal), 0);
  }
  await assertUntouched(h);
});

for (const [kind, watch] of asynchronous) {
  test(`${kind}: aborted while the source gives nothing`, { timeout: 20_000 }, async (t) => {
    const h = await withOld(t);
    for (const good of [0, 1, 8]) {
      const controller = new AbortController();
      const seen = watch((at) => (at < good ? chunk() : new Promise(() => {})));
      const writing = h.files.write(NAME, seen.content, { signal: controller.signal });
      setTimeout(() => controller.abort("stop"), 30);
      const error = await rejectsWith(writing, "FS_ABORTED", { path: NAME });
      assert.equal(error.cause, "stop");
      assert.equal(listeners(controller.signal), 0);
      // A generator hears of it only when what it waits for comes, as with `for await`.
      if (kind !== "async generator") assert.equal(seen.told, 1, "told once");
      await assertUntouched(h);
      await turn();
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: aborted in full flow`, { timeout: 20_000 }, async (t) => {
    const h = await withOld(t);
    for (const wait of [0, 2, 10]) {
      const controller = new AbortController();
      const seen = watch(async () => {
        await turn();
        return chunk();
      });
      const writing = h.files.write(NAME, seen.content, { signal: controller.signal });
      setTimeout(() => controller.abort(), wait);
      const error = await rejectsWith(writing, "FS_ABORTED", { path: NAME });
      assert.equal(error.cause, controller.signal.reason);
      assert.equal(listeners(controller.signal), 0);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      assert.equal(seen.told, 1, "told once");
      const { pulls } = seen;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      assert.equal(seen.pulls, pulls, "nothing is read after that");
      await assertUntouched(h);
    }
  });
}

test("aborted during a long writeJSON or a long sync iterable", { timeout: 60_000 }, async (t) => {
  const h = await withOld(t);
  const rows = Array.from({ length: 300_000 }, (_, id) => ({ id, name: `User ${id}` }));
  let told = 0;
  const endless = {
    *[Symbol.iterator]() {
      try {
        for (;;) yield chunk();
      } finally {
        told++;
      }
    },
  };
  for (const write of [
    (options) => h.files.writeJSON(NAME, rows, options),
    (options) => h.files.write(NAME, endless, options),
    (options) => h.files.write(NAME, "ü".repeat(200 * MIB), options),
  ]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    await rejectsWith(write({ signal: controller.signal }), "FS_ABORTED", { path: NAME });
    assert.equal(listeners(controller.signal), 0);
    await assertUntouched(h);
  }
  assert.equal(told, 1);
});

test("one signal for many calls at once: no warning, one abort ends all, no listener stays", async (t) => {
  const h = await withOld(t);
  const warnings = [];
  const warned = (warning) => warnings.push(warning);
  process.on("warning", warned);
  after(t, () => process.off("warning", warned));
  const { signal } = new AbortController();
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => h.files.write(`/session/${at}.txt`, later(["x"]), { signal })),
  );
  await Promise.all(Array.from({ length: 40 }, (_, at) => h.files.read(`/session/${at}.txt`, { signal })));
  assert.equal(listeners(signal), 0);
  const controller = new AbortController();
  const writes = Array.from({ length: 40 }, () =>
    h.files.write(NAME, later([bytes(3), new Promise(() => {})]), { signal: controller.signal }),
  );
  const all = Promise.allSettled(writes);
  await turn();
  controller.abort();
  for (const { status, reason } of await all) assert.deepEqual([status, reason?.code], ["rejected", "FS_ABORTED"]);
  assert.equal(listeners(controller.signal), 0);
  await turn();
  assert.deepEqual(
    warnings.filter((warning) => warning.name === "MaxListenersExceededWarning"),
    [],
  );
  await assertUntouched(h);
});

test("aborted after the file was published: no effect; or it was not published and the old file stands", async (t) => {
  const h = await withOld(t);
  const controller = new AbortController();
  await h.files.write(NAME, later([bytes(10)]), { signal: controller.signal });
  controller.abort();
  assert.equal((await h.files.stat(NAME)).bytes, 10);
  // Whichever comes first, the outcome and the disk agree.
  for (let round = 0; round < 40; round++) {
    await h.files.write(NAME, "old");
    const racing = new AbortController();
    const writing = h.files.write(NAME, round % 2 ? "new" : later(["new"]), { signal: racing.signal });
    if (round % 4 < 2) setImmediate(() => racing.abort());
    else setTimeout(() => racing.abort(), round / 20);
    const done = await writing.then(
      () => true,
      (error) => {
        assert.equal(error.code, "FS_ABORTED");
        return false;
      },
    );
    assert.equal((await h.files.read(NAME)).text(), done ? "new" : "old");
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("AbortSignal.timeout, AbortSignal.any and a signal of another make", async (t) => {
  const h = await withOld(t);
  const never = () => later([new Promise(() => {})]);
  const alive = setInterval(() => {}, 1000); // the timer of AbortSignal.timeout does not keep the process going
  after(t, () => clearInterval(alive));
  const timeout = await rejectsWith(h.files.write(NAME, never(), { signal: AbortSignal.timeout(20) }), "FS_ABORTED");
  assert.equal(timeout.cause.name, "TimeoutError");
  await rejectsWith(
    h.files.write(NAME, never(), { signal: AbortSignal.any([AbortSignal.timeout(20), new AbortController().signal]) }),
    "FS_ABORTED",
  );
  const target = new EventTarget();
  const own = {
    aborted: false,
    reason: "own",
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  setTimeout(() => {
    own.aborted = true;
    target.dispatchEvent(new Event("abort"));
  }, 20);
  assert.equal((await rejectsWith(h.files.write(NAME, never(), { signal: own }), "FS_ABORTED")).cause, "own");
  for (const signal of [7, {}, null, "x", { aborted: false }, new EventTarget()])
    await rejectsWith(h.files.write(NAME, "x", { signal }), "FS_INVALID_OPTION");
  await assertUntouched(h);
});

// ── Whole streams ──────────────────────────────────────────────────────────────────────────────────────────────────────

test(
  "back-pressure: a source is never asked for more than a few batches ahead of the disk",
  { timeout: 60_000 },
  async (t) => {
    const h = await withHost(t, { durability: "none", trace: { diff: false } });
    let given = 0;
    const source = (async function* generate() {
      for (; given < 64; given++) yield bytes(MIB);
    })();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const ref = await h.files.write(NAME, source).finally(() => clearInterval(timer));
    assert.equal(ref.bytes, 64 * MIB);
    assert.ok(most < 48 * MIB, `${Math.round(most / MIB)} MiB of buffers at once`);
  },
);

test("a file of another session streams straight in, and its failure is a failed source", async (t) => {
  const h = await withOld(t);
  const other = await h.host.sessions.getOrCreate({ id: "other" });
  await other.files.write("/session/big", big);
  await assertWrites(h, await other.files.readStream("/session/big"), big);
  await h.files.write(NAME, "old");
  const controller = new AbortController();
  const stream = await other.files.readStream("/session/big", { signal: controller.signal });
  const writing = h.files.write(NAME, stream);
  controller.abort();
  const error = await rejectsWith(writing, "FS_INVALID_CONTENT");
  assert.equal(error.cause.code, "FS_ABORTED");
  await assertUntouched(h);
});

test("a Node stream from a file that goes, and one that is destroyed on the way", async (t) => {
  const h = await withOld(t);
  const base = tempDir(t);
  const missing = await rejectsWith(
    h.files.write(NAME, fs.createReadStream(path.join(base, "missing"))),
    "FS_INVALID_CONTENT",
  );
  assert.equal(missing.cause.code, "ENOENT");
  fs.writeFileSync(path.join(base, "big"), big);
  await assertWrites(h, fs.createReadStream(path.join(base, "big")), big);
  await h.files.write(NAME, "old");
  for (const failure of [undefined, new Error("mine")]) {
    const stream = fs.createReadStream(path.join(base, "big"), { highWaterMark: 1024 });
    stream.once("readable", () => setImmediate(() => stream.destroy(failure)));
    const error = await rejectsWith(h.files.write(NAME, stream), "FS_INVALID_CONTENT");
    if (failure !== undefined) assert.equal(error.cause, failure);
    await turn();
    assertNoListeners(stream);
  }
  await assertUntouched(h);
});

test("closing waits for writes under way; a source then ends as it would have", async (t) => {
  const h = await withOld(t);
  const session = await h.host.sessions.getOrCreate({ id: "test" });
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  const writing = session.files.write(
    NAME,
    (async function* generate() {
      yield "new ";
      await gate;
      yield "content";
    })(),
  );
  let closed = false;
  const closing = session.close().then(() => {
    closed = true;
  });
  await rejectsWith(session.files.stat(NAME), "FS_CLOSED");
  await turn();
  assert.ok(!closed);
  release();
  await writing;
  await closing;
  assert.equal((await h.files.read(NAME)).text(), "new content");
});
