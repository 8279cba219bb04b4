// Every kind of content is written as what it holds, in any chunks.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Duplex, PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import vm from "node:vm";
import fc from "fast-check";
import { withHost } from "./support/host.mjs";
import { assertWrites, NAME, withOld } from "./support/old-file.mjs";
import { big, bytes, cut, later, MIB, now, shared, web, words } from "./support/sources.mjs";
import { leftovers, sha256 } from "./support/tree.mjs";

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
