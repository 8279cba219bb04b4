// G2, G3: a reader sees the old file or the new one; a write that fails leaves the old one and nothing else.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { onBackends } from "./support/backends.mjs";
import { chunks, collect, tagOf, tagged } from "./support/content.mjs";
import { rejectsWith, withHost } from "./support/host.mjs";
import { leftovers, names, plant, rootsSnapshot, sha256 } from "./support/tree.mjs";

const MIB = 1024 * 1024;

/** A thread that reads the same file over and over with node:fs; `stop()` gives how often, and the first mix it saw. */
function outsideReader(file) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const program = `
    const { parentPort, workerData: { file, flag, support } } = require("node:worker_threads");
    const fs = require("node:fs");
    import(support).then(({ tagOf }) => {
      let reads = 0; let mix; const tags = new Set();
      while (Atomics.load(flag, 0) === 0 && !mix) {
        try { const content = fs.readFileSync(file); tags.add(content.length + ":" + tagOf(content)); reads += 1; }
        catch (error) { mix = String(error); }
      }
      parentPort.postMessage({ reads, mix, tags: [...tags] });
    });`;
  const worker = new Worker(program, {
    eval: true,
    workerData: { file, flag, support: new URL("support/content.mjs", import.meta.url).href },
  });
  const ended = new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  return async () => {
    Atomics.store(flag, 0, 1);
    const result = await ended;
    await worker.terminate();
    return result;
  };
}

onBackends("readers hash in a loop while 4 MiB contents replace each other", async (t, h) => {
  const at = "/session/big.bin";
  const onDisk = path.join(h.roots.session, "big.bin");
  const versions = Array.from({ length: 24 }, (_, n) => ({
    tag: `v${n}`,
    content: tagged(`v${n}`, 4 * MIB + (n % 3) * 8),
  }));
  const hashes = new Map(versions.map(({ tag, content }) => [sha256(content), tag]));
  await h.files.write(at, versions[0].content);
  const stopOutside = outsideReader(onDisk);
  let running = true;
  let reads = 0;
  const seen = new Set();
  const readers = [
    async () => {
      const data = await h.files.read(at);
      assert.equal(sha256(data.content), data.sha256, "sha256 of what was read");
      assert.equal(data.bytes, data.content.byteLength);
      seen.add(hashes.get(data.sha256));
    },
    async () => {
      tagOf(await fs.promises.readFile(onDisk));
    },
    async () => {
      tagOf(await collect(await h.files.readStream(at)));
    },
    async () => {
      assert.deepEqual(
        (await h.files.list("/session", { recursive: true })).map((entry) => entry.path),
        [at],
        "a temp is visible",
      );
      assert.deepEqual(fs.readdirSync(h.roots.session), ["big.bin"]);
    },
    async () => {
      assert.ok((await h.files.stat(at)).bytes >= 4 * MIB);
    },
  ].map(async (read) => {
    while (running) {
      await read();
      reads += 1;
    }
  });
  const failed = Promise.all(readers);
  failed.catch(() => {});
  for (const [n, { content }] of versions.entries()) {
    const ref = await h.files.write(at, n % 2 === 0 ? content : chunks(content, 300_001));
    assert.equal(ref.sha256, sha256(content));
    assert.equal(ref.bytes, content.length);
  }
  running = false;
  const outside = await stopOutside();
  await failed;
  assert.equal(outside.mix, undefined);
  assert.ok(outside.reads > 5 && outside.tags.length > 2, `${outside.reads} reads from outside saw ${outside.tags}`);
  assert.ok(reads > 20 && seen.size > 2 && !seen.has(undefined), `${reads} reads saw ${[...seen]}`);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("a source that fails at any chunk leaves the old file and nothing else", async (t, h) => {
  const old = await h.files.write("/session/old.bin", tagged("old", 100_000));
  const before = rootsSnapshot(h.roots);
  const size = 300 * 1024;
  for (let fail = 0; fail <= 8; fail += 1) {
    for (const [target, guard] of [
      ["/session/old.bin", {}],
      ["/session/old.bin", { ifMatch: old.sha256 }],
      ["/session/new/parent/new.bin", {}],
      ["/artifacts/new.bin", { ifNoneMatch: "*" }],
    ]) {
      const cause = new Error(`source broke at ${fail}`);
      let closed = 0;
      const source = (async function* () {
        try {
          for (let at = 0; at < fail; at += 1) yield tagged("new", size);
          throw cause;
        } finally {
          closed += 1;
        }
      })();
      const error = await rejectsWith(h.files.write(target, source, guard), "FS_INVALID_CONTENT");
      assert.equal(error.cause, cause);
      assert.equal(closed, 1);
      assert.deepEqual(rootsSnapshot(h.roots), before, `fail at ${fail} on ${target}`);
      assert.deepEqual(leftovers(h.dataDir), [], `fail at ${fail} on ${target}`);
    }
  }
  assert.equal((await h.files.read("/session/old.bin")).sha256, old.sha256);
});

onBackends("an abort at any moment leaves the old file and nothing else", async (t, h) => {
  await h.files.write("/session/old.bin", tagged("old", 100_000));
  const before = rootsSnapshot(h.roots);
  for (let fail = 0; fail <= 6; fail += 1) {
    const controller = new AbortController();
    const reason = new Error("the user left");
    const source = (async function* () {
      for (let at = 0; at < 8; at += 1) {
        if (at === fail) controller.abort(reason);
        yield tagged("new", 300 * 1024);
      }
    })();
    const error = await rejectsWith(
      h.files.write(fail % 2 ? "/session/old.bin" : "/session/p/new.bin", source, { signal: controller.signal }),
      "FS_ABORTED",
    );
    assert.equal(error.cause, reason);
    assert.deepEqual(rootsSnapshot(h.roots), before);
    assert.deepEqual(leftovers(h.dataDir), []);
  }
});

test("two writers, two handles, two hosts: one of the contents, whole", async (t) => {
  const h = await withHost(t);
  const second = await withHost(t, { base: h.base });
  const handles = [h.files, (await h.session("test")).files, second.files];
  for (let round = 0; round < 12; round += 1) {
    const writes = handles.map((files, n) => {
      const content = tagged(`r${round}w${n}`, 700_000 + n * 8);
      return files
        .write("/session/same.bin", (n + round) % 2 ? content : chunks(content, 65_536))
        .then((ref) => ({ ref, content }));
    });
    const done = await Promise.all(writes);
    for (const { ref, content } of done) assert.equal(ref.sha256, sha256(content), "each ref names its own content");
    const onDisk = fs.readFileSync(path.join(h.roots.session, "same.bin"));
    const winner = done.find(({ content }) => content.equals(onDisk));
    assert.ok(winner, `a mix: ${tagOf(onDisk)}`);
    for (const files of handles) {
      assert.equal(
        (await files.stat("/session/same.bin")).sha256 ?? winner.ref.sha256,
        winner.ref.sha256,
        "the row is the winner's",
      );
      assert.equal((await files.read("/session/same.bin")).sha256, winner.ref.sha256);
    }
  }
  assert.deepEqual(names(h.roots.session), ["same.bin"]);
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("many files at once, each whole", async (t) => {
  const h = await withHost(t);
  const writes = Array.from({ length: 200 }, (_, n) =>
    h.files.write(`/session/many/${n % 7}/${n}.bin`, tagged(`n${n}`, 8 * ((n * 37) % 2000))),
  );
  const refs = await Promise.all(writes);
  for (const [n, ref] of refs.entries()) {
    const content = fs.readFileSync(path.join(h.roots.session, ref.path.slice("/session/".length)));
    assert.equal(sha256(content), ref.sha256);
    assert.equal(content.length, 8 * ((n * 37) % 2000));
  }
});

test("any bytes in any chunking give the same ref and the same file", async (t) => {
  const h = await withHost(t);
  let round = 0;
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 2_600_000 }))
      .map(([unit, length]) => Buffer.alloc(length, unit)),
  );
  await fc.assert(
    fc.asyncProperty(
      bytes,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      async (content, cutsAt) => {
        const cuts = [0, ...cutsAt.map((at) => Math.floor(at * content.length)), content.length].sort((a, b) => a - b);
        const parts = cuts.slice(1).map((end, n) => content.subarray(cuts[n], end));
        const expected = { bytes: content.length, sha256: sha256(content) };
        round += 1;
        // A fresh copy with an offset of its own, so that a view is told from its buffer.
        const padded = new Uint8Array(content.length + 7).fill(7);
        padded.set(content, 5);
        const sources = [
          content,
          new Uint8Array(padded.buffer, 5, content.length),
          parts,
          (async function* () {
            yield* parts;
          })(),
          new Blob(parts),
          new Blob(parts).stream(),
        ];
        for (const [n, source] of sources.entries()) {
          const at = `/session/p/${round % 3}-${n}`;
          const ref = await h.files.write(at, Array.isArray(source) && source.length === 0 ? content : source);
          assert.deepEqual({ bytes: ref.bytes, sha256: ref.sha256 }, expected, `source ${n}`);
          assert.equal(
            sha256(fs.readFileSync(path.join(h.roots.session, at.slice("/session/".length)))),
            expected.sha256,
            `source ${n} on disk`,
          );
        }
      },
    ),
    { numRuns: 30 },
  );
});

onBackends("a failed write makes no parents; a write makes all it needs", async (t, h) => {
  plant(h.roots.session, { "kept.txt": "x" });
  const stuck = (async function* () {
    yield "some";
    throw new Error("late");
  })();
  await rejectsWith(h.files.write("/session/a/b/c/d.txt", stuck), "FS_INVALID_CONTENT");
  assert.deepEqual(names(h.roots.session), ["kept.txt"]);
  await Promise.all(Array.from({ length: 20 }, (_, n) => h.files.writeText(`/session/a/b/${n % 4}/${n}.txt`, "x")));
  assert.equal(
    (await h.files.list("/session/a", { recursive: true })).filter((entry) => entry.kind === "file").length,
    20,
  );
});
