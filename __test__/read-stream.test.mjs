// Streaming a file out: opened at once, read as it is pulled, of one version, its handle closed however it ends.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { collect, tagged, tagOf } from "./support/content.mjs";
import { sleep, until } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const onLinux = process.platform === "linux";
/** How many handles of this process are on a file of that name, deleted or not. */
function handlesOn(name) {
  let count = 0;
  for (const fd of fs.readdirSync("/proc/self/fd")) {
    try {
      if (path.basename(fs.readlinkSync(`/proc/self/fd/${fd}`)).startsWith(name)) count++;
    } catch {
      /* that one was closed meanwhile */
    }
  }
  return count;
}

test("all bytes, as a web stream of Uint8Array", async (t) => {
  const { files } = await withHost(t);
  const content = Buffer.from(Array.from({ length: 3_000_001 }, (_, n) => (n * 31) % 251));
  await files.write("/session/a.bin", content);
  const stream = await files.readStream("/session/a.bin");
  assert.ok(stream instanceof ReadableStream);
  for await (const chunk of stream) {
    assert.ok(chunk instanceof Uint8Array && chunk.length > 0);
    break;
  }
  assert.deepEqual(await collect(await files.readStream("/session/a.bin")), content);
  assert.deepEqual(await collect(Readable.fromWeb(await files.readStream("/session/a.bin"))), content);
  assert.equal(
    sha256(Buffer.from(await new Response(await files.readStream("/session/a.bin")).arrayBuffer())),
    sha256(content),
  );
  assert.deepEqual(
    await collect(await files.readStream("/session/a.bin", { signal: new AbortController().signal })),
    content,
  );
  await files.write("/session/empty", "");
  assert.equal((await collect(await files.readStream("/session/empty"))).length, 0);
});

test("a stream goes straight into a write", async (t) => {
  const { files } = await withHost(t);
  const ref = await files.write("/session/a.bin", tagged("same", 5 << 20));
  const copy = await files.write("/artifacts/b.bin", await files.readStream("/session/a.bin"));
  assert.equal(copy.sha256, ref.sha256);
  const onto = await files.write("/session/a.bin", await files.readStream("/session/a.bin"));
  assert.equal(onto.sha256, ref.sha256, "also onto itself");
});

test("ranges", async (t) => {
  const { files } = await withHost(t);
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
  await files.write("/session/a.bin", content);
  for (const [range, start, end] of [
    [{}, 0, 300_000],
    [{ start: 299_999 }, 299_999, 300_000],
    [{ end: 1 }, 0, 1],
    [{ start: 1000, end: 200_000 }, 1000, 200_000],
    [{ start: 7, end: 7 }, 7, 7],
    [{ start: 1e9 }, 300_000, 300_000],
    [{ start: 10, end: 1e12 }, 10, 300_000],
  ]) {
    assert.deepEqual(
      await collect(await files.readStream("/session/a.bin", { range })),
      content.subarray(start, end),
      JSON.stringify(range),
    );
  }
  for (const range of [{ start: 2, end: 1 }, { start: -1 }, { end: 0.5 }, { start: "0" }, 7])
    await rejectsWith(files.readStream("/session/a.bin", { range }), "FS_INVALID_OPTION");
});

test("what cannot be read rejects when it is opened", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/folder/a.txt", "x");
  await rejectsWith(files.readStream("/session/none"), "FS_NOT_FOUND", { message: /ENOENT/ });
  await rejectsWith(files.readStream("/session/folder"), "FS_NOT_REGULAR_FILE");
  await rejectsWith(files.readStream("/session/folder/a.txt/x"), "FS_NOT_DIRECTORY");
  await rejectsWith(files.readStream("/session/../x"), "FS_INVALID_PATH");
  await rejectsWith(files.readStream("/etc/passwd"), "FS_SANDBOX_DENIED");
  await rejectsWith(files.readStream("/session/folder/a.txt", { signal: AbortSignal.abort("why") }), "FS_ABORTED");
});

test("a file that is replaced or removed while it is streamed: the old one whole", async (t) => {
  const { files } = await withHost(t);
  for (const change of [
    () => files.write("/session/a.bin", tagged("new", 4 << 20)),
    () => files.remove("/session/a.bin"),
  ]) {
    await files.write("/session/a.bin", tagged("old", 8 << 20));
    const untouched = await files.readStream("/session/a.bin");
    const begun = await files.readStream("/session/a.bin");
    const reader = begun.getReader();
    const first = (await reader.read()).value;
    await change();
    const rest = [first];
    for (let next; !(next = await reader.read()).done;) rest.push(next.value);
    for (const content of [Buffer.concat(rest), await collect(untouched)]) {
      assert.equal(content.length, 8 << 20);
      assert.equal(tagOf(content), "old");
    }
  }
});

test("a file that another program cuts short while it is streamed is an error or a short end, never other bytes", async (t) => {
  const { files, roots } = await withHost(t);
  await files.write("/session/a.bin", tagged("old", 16 << 20));
  const reader = (await files.readStream("/session/a.bin")).getReader();
  const parts = [(await reader.read()).value];
  fs.truncateSync(path.join(roots.session, "a.bin"), 1 << 20);
  try {
    for (let next; !(next = await reader.read()).done;) parts.push(next.value);
  } catch (error) {
    assert.match(error.code, /^FS_/);
  }
  assert.equal(tagOf(Buffer.concat(parts)), "old");
});

test("it is read as it is pulled", async (t) => {
  if (!onLinux) return t.skip("reads /proc/self/io");
  const { files } = await withHost(t);
  await files.write("/session/a.bin", tagged("big", 64 << 20));
  const readSoFar = () => Number(/rchar: (\d+)/.exec(fs.readFileSync("/proc/self/io", "utf8"))[1]);
  const before = readSoFar();
  const reader = (await files.readStream("/session/a.bin")).getReader();
  await reader.read();
  await sleep(200);
  const read = readSoFar() - before;
  assert.ok(read < 16 << 20, `${read} bytes were read for one chunk`);
  await reader.cancel();
});

for (const [way, end] of Object.entries({
  "read to its end": async (stream) => {
    await collect(stream);
  },
  "cancelled at once": async (stream) => {
    await stream.cancel("no need");
  },
  "cancelled after a chunk": async (stream) => {
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel(new Error("enough"));
    assert.deepEqual(await reader.read(), { done: true, value: undefined });
  },
  "left with break": async (stream) => {
    for await (const _ of stream) break;
  },
  "cancelled with a read under way": async (stream) => {
    const reader = stream.getReader();
    const reading = reader.read();
    await reader.cancel();
    await reading;
  },
})) {
  test(`no handle stays open: ${way}`, async (t) => {
    if (!onLinux) return t.skip("counts handles in /proc/self/fd");
    const { files } = await withHost(t);
    await files.write("/session/handle-test.bin", tagged("x", 4 << 20));
    for (let n = 0; n < 20; n++) await end(await files.readStream("/session/handle-test.bin"));
    await until(() => handlesOn("handle-test.bin") === 0, "every handle closed", 5000);
  });
}

test("a signal: aborted before a chunk, between chunks, with a read under way, after the end", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/handle-test.bin", tagged("x", 8 << 20));
  const reason = { why: "enough" };
  const isAbort = (error) => {
    assert.deepEqual([error.code, error.cause], ["FS_ABORTED", reason]);
    return true;
  };
  const opened = async () => {
    const controller = new AbortController();
    const stream = await files.readStream("/session/handle-test.bin", { signal: controller.signal });
    return { controller, reader: stream.getReader() };
  };
  const early = await opened();
  early.controller.abort(reason);
  await assert.rejects(early.reader.read(), isAbort);
  await assert.rejects(early.reader.closed, isAbort);
  const between = await opened();
  await between.reader.read();
  between.controller.abort(reason);
  await assert.rejects(
    (async () => {
      while (!(await between.reader.read()).done);
    })(),
    isAbort,
  );
  const under = await opened();
  const reading = under.reader.read();
  under.controller.abort(reason);
  await reading.catch(isAbort);
  await assert.rejects(
    (async () => {
      while (!(await under.reader.read()).done);
    })(),
    isAbort,
  );
  const late = await opened();
  while (!(await late.reader.read()).done);
  late.controller.abort(reason);
  await late.reader.closed;
  if (onLinux) await until(() => handlesOn("handle-test.bin") === 0, "every handle closed", 5000);
});

test("one signal for many streams gathers no listeners", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.bin", "content");
  const { signal } = new AbortController();
  const live = new Set();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type, listener, options) => {
    live.add(listener);
    return add(type, listener, options);
  };
  signal.removeEventListener = (type, listener, options) => {
    live.delete(listener);
    return remove(type, listener, options);
  };
  for (let n = 0; n < 20; n++) await collect(await files.readStream("/session/a.bin", { signal }));
  for (let n = 0; n < 20; n++) await (await files.readStream("/session/a.bin", { signal })).cancel();
  assert.equal(live.size, 0);
});

test("a BYOB reader, where the stream offers one, gets the same bytes", async (t) => {
  const { files } = await withHost(t);
  const content = tagged("byob", 1_000_003);
  await files.write("/session/a.bin", content);
  const stream = await files.readStream("/session/a.bin");
  let reader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch (error) {
    assert.ok(error instanceof TypeError);
    assert.deepEqual(await collect(stream), content, "asking did not harm it");
    return;
  }
  const parts = [];
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(7777));
    if (done) break;
    parts.push(Buffer.from(value));
  }
  assert.deepEqual(Buffer.concat(parts), content);
});

test("tee, and streams side by side", async (t) => {
  const { files } = await withHost(t);
  const content = tagged("tee", 2_000_000);
  await files.write("/session/a.bin", content);
  const [left, right] = (await files.readStream("/session/a.bin")).tee();
  const all = await Promise.all(
    [left, right, ...(await Promise.all(Array.from({ length: 20 }, () => files.readStream("/session/a.bin"))))].map(
      collect,
    ),
  );
  for (const each of all) assert.ok(each.equals(content));
});

test("streams that nobody reads, nobody cancels and nobody holds give their handles back", async (t) => {
  if (!onLinux) return t.skip("counts handles in /proc/self/fd");
  const { files, close } = await withHost(t);
  await files.write("/session/handle-test.bin", tagged("x", 4 << 20));
  for (let n = 0; n < 30; n++) await files.readStream("/session/handle-test.bin");
  await close();
  await until(() => handlesOn("handle-test.bin") === 0, "closing the host closes them", 5000);
});
