// Reading a whole file or a range: exact bytes, exact facts, told refusals.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { HarnessFileError } from "@little-stack/files";
import { rejectsWith, withHost } from "./support/host.mjs";
import { tagged, tagOf } from "./support/content.mjs";
import { sleep } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const bytes = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 256));

test("every byte comes back, with hash, size and media type", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.png", bytes);
  const data = await files.read("/session/a.png");
  assert.deepEqual(
    { path: data.path, bytes: data.bytes, sha256: data.sha256, mediaType: data.mediaType },
    { path: "/session/a.png", bytes: 1000, sha256: sha256(bytes), mediaType: "image/png" },
  );
  assert.ok(data.content instanceof Uint8Array);
  assert.deepEqual(Buffer.from(data.content), bytes);
  await files.write("/session/empty", "");
  const empty = await files.read("/session/empty");
  assert.deepEqual([empty.bytes, empty.content.length, empty.text(), empty.sha256], [0, 0, "", sha256("")]);
});

test("the value is its own: changing it changes no later read", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a", "abc");
  (await files.read("/session/a")).content.fill(0);
  assert.equal((await files.read("/session/a")).text(), "abc");
});

test("ranges: of the bytes asked for, with the facts of the whole file", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.bin", bytes);
  const cases = [
    [{}, 0, 1000],
    [{ start: 0 }, 0, 1000],
    [{ end: 1000 }, 0, 1000],
    [{ start: 10, end: 20 }, 10, 20],
    [{ start: 999 }, 999, 1000],
    [{ start: 0, end: 1 }, 0, 1],
    [{ start: 5, end: 5 }, 5, 5],
    [{ start: 0, end: 0 }, 0, 0],
    [{ end: 0 }, 0, 0],
    [{ start: 990, end: 5000 }, 990, 1000],
    [{ start: 1000 }, 1000, 1000],
    [{ start: 5000 }, 1000, 1000],
    [{ start: 5000, end: 6000 }, 1000, 1000],
    [{ start: 1, end: Number.MAX_SAFE_INTEGER }, 1, 1000],
    [{ start: undefined, end: undefined }, 0, 1000],
  ];
  for (const [range, start, end] of cases) {
    const data = await files.read("/session/a.bin", { range });
    assert.deepEqual(Buffer.from(data.content), bytes.subarray(start, end), JSON.stringify(range));
    assert.equal(data.bytes, 1000);
    assert.equal(data.sha256, sha256(bytes));
  }
  for (const range of [
    { start: 2, end: 1 },
    { start: -1 },
    { end: -1 },
    { start: 1.5 },
    { start: Number.NaN },
    { end: Infinity },
    { start: "1" },
    { end: null },
    { start: 2 ** 53 },
    7,
    "0-1",
    [0, 1],
  ]) {
    await rejectsWith(files.read("/session/a.bin", { range }), "FS_INVALID_OPTION");
  }
});

test("maxBytes is a cap, never a cut; of a range only the range counts", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.bin", bytes);
  assert.equal((await files.read("/session/a.bin", { maxBytes: 1000 })).content.length, 1000);
  await rejectsWith(files.read("/session/a.bin", { maxBytes: 999 }), "FS_TOO_LARGE");
  await rejectsWith(files.read("/session/a.bin", { maxBytes: 0 }), "FS_TOO_LARGE");
  assert.equal((await files.read("/session/a.bin", { maxBytes: 10, range: { start: 5, end: 15 } })).content.length, 10);
  await rejectsWith(files.read("/session/a.bin", { maxBytes: 9, range: { start: 5, end: 15 } }), "FS_TOO_LARGE");
  for (const maxBytes of [-1, 1.5, Number.NaN, "1", null])
    await rejectsWith(files.read("/session/a.bin", { maxBytes }), "FS_INVALID_OPTION");
});

test("over 512 MiB is FS_TOO_LARGE by default, without reading it; a range of it is fine", async (t) => {
  const { files, roots } = await withHost(t);
  const big = path.join(roots.session, "big.bin");
  fs.writeFileSync(big, "");
  fs.truncateSync(big, 512 * 2 ** 20 + 1);
  const start = performance.now();
  const error = await rejectsWith(files.read("/session/big.bin"), "FS_TOO_LARGE");
  assert.match(error.message, /readStream|range|maxBytes/, "says what to do");
  assert.ok(performance.now() - start < 300, "the size tells");
});

const texts = {
  plain: "one\ntwo",
  empty: "",
  astral: "é📊\u{10ffff}",
  nul: "a\0b",
  "a replacement character of its own": "\ufffd",
};
const notTexts = {
  "a stray byte": [0x61, 0xff],
  "cut in a character": [0xf0, 0x9f, 0x93],
  "a surrogate": [0xed, 0xa0, 0x80],
  overlong: [0xc0, 0x80],
  "beyond Unicode": [0xf4, 0x90, 0x80, 0x80],
};

test("text is strict UTF-8, at once with encoding utf8, later with text()", async (t) => {
  const { files } = await withHost(t);
  for (const [name, text] of Object.entries(texts)) {
    await files.write("/session/a", text);
    assert.equal((await files.read("/session/a", { encoding: "utf8" })).text(), text, name);
    assert.equal((await files.read("/session/a", { encoding: "bytes" })).text(), text, name);
  }
  for (const [name, content] of Object.entries(notTexts)) {
    await files.write("/session/a", Uint8Array.from(content));
    const error = await rejectsWith(files.read("/session/a", { encoding: "utf8" }), "FS_NOT_TEXT");
    assert.equal(error.path, "/session/a");
    const data = await files.read("/session/a");
    assert.deepEqual([...data.content], content, name);
    for (const method of ["text", "json"])
      assert.throws(
        () => data[method](),
        (thrown) => HarnessFileError.isInstance(thrown) && thrown.code === "FS_NOT_TEXT",
        `${name}, ${method}`,
      );
  }
  for (const encoding of ["latin1", "UTF8", 7, null])
    await rejectsWith(files.read("/session/a", { encoding }), "FS_INVALID_OPTION");
});

test("a byte order mark is dropped from the text, kept in the bytes", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.json", Buffer.from('\ufeff{"a":1}'));
  const data = await files.read("/session/a.json", { encoding: "utf8" });
  assert.equal(data.text(), '{"a":1}');
  assert.deepEqual(data.json(), { a: 1 });
  assert.equal(data.content[0], 0xef);
  assert.equal(data.bytes, 10);
  await files.write("/session/b", Buffer.from("\ufeff\ufeffx"));
  assert.equal((await files.read("/session/b")).text(), "\ufeffx", "one mark, not two");
});

test("json() of what is no JSON is a coded error with its cause", async (t) => {
  const { files } = await withHost(t);
  for (const text of ["", "{", "undefined", "{'a':1}", "1 2"]) {
    await files.write("/session/a.json", text);
    const data = await files.read("/session/a.json");
    assert.throws(
      () => data.json(),
      (error) =>
        HarnessFileError.isInstance(error) &&
        error.code === "FS_INVALID_CONTENT" &&
        error.cause instanceof SyntaxError &&
        error.path === "/session/a.json",
      text,
    );
  }
  await files.writeJSON("/session/a.json", { a: [1, null, "é"] });
  assert.deepEqual((await files.read("/session/a.json")).json(), { a: [1, null, "é"] });
});

test("the value survives structuredClone and JSON; absent fields are absent", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/a.txt", "abc");
  const data = await files.read("/session/a.txt");
  const clone = structuredClone(data);
  assert.deepEqual(Object.keys(clone).sort(), ["bytes", "content", "mediaType", "path", "sha256"]);
  assert.deepEqual([...clone.content], [97, 98, 99]);
  assert.deepEqual(Object.keys(data).sort(), ["bytes", "content", "mediaType", "path", "sha256"]);
  const entry = await files.stat("/session/a.txt");
  assert.deepEqual(
    Object.keys(entry).filter((key) => entry[key] === undefined),
    [],
  );
  assert.deepEqual(structuredClone(entry), { ...entry });
});

test("what is no regular file, or not there", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/folder/a.txt", "x");
  await rejectsWith(files.read("/session/none"), "FS_NOT_FOUND", { message: /ENOENT/ });
  await rejectsWith(files.read("/session/none/none"), "FS_NOT_FOUND", { message: /ENOENT/ });
  await rejectsWith(files.read("/session/folder"), "FS_NOT_REGULAR_FILE");
  await rejectsWith(files.read("/session/folder/a.txt/x"), "FS_NOT_DIRECTORY");
});

test("a signal: aborted before, aborted while it runs", async (t) => {
  const { files } = await withHost(t);
  await files.write("/session/big.bin", tagged("big", 64 << 20));
  const reason = new Error("enough");
  const error = await rejectsWith(files.read("/session/big.bin", { signal: AbortSignal.abort(reason) }), "FS_ABORTED");
  assert.equal(error.cause, reason);
  const controller = new AbortController();
  const reading = files.read("/session/big.bin", { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await reading.then(
    (data) => assert.equal(tagOf(data.content), "big"),
    (thrown) => assert.deepEqual([thrown.code, thrown.cause], ["FS_ABORTED", reason]),
  );
  assert.equal((await files.read("/session/big.bin", { range: { end: 8 } })).text(), "big.....");
});

test("a file that our writes replace while it is read: one version whole, and its facts", async (t) => {
  const { files } = await withHost(t);
  const size = 3 << 20;
  await files.write("/session/a.bin", tagged("v0", size));
  let stop = false;
  const writing = (async () => {
    for (let n = 1; !stop; n++) await files.write("/session/a.bin", tagged(`v${n}`, size + n));
  })();
  const versions = new Set();
  for (let n = 0; n < 40; n++) {
    const data = await files.read("/session/a.bin");
    versions.add(tagOf(data.content));
    assert.equal(data.content.length, data.bytes);
    assert.equal(data.sha256, sha256(data.content));
  }
  stop = true;
  await writing;
  assert.ok(versions.size > 1, "they did overlap");
});

test("a file that another program rewrites in place while it is read: hash and size are those of the bytes given", async (t) => {
  const { files, roots } = await withHost(t);
  const onDisk = path.join(roots.session, "a.bin");
  await files.write("/session/a.bin", tagged("v0", 2 << 20));
  let stop = false;
  const rewriting = (async () => {
    for (let n = 1; !stop; n++) {
      fs.writeFileSync(onDisk, tagged(`v${n}`, (2 << 20) - (n % 5) * 8));
      await sleep(0);
    }
  })();
  for (let n = 0; n < 60; n++) {
    const data = await files.read("/session/a.bin");
    assert.equal(data.bytes, data.content.length);
    assert.equal(data.sha256, sha256(data.content));
  }
  stop = true;
  await rewriting;
  const last = await files.read("/session/a.bin");
  assert.deepEqual(Buffer.from(last.content), fs.readFileSync(onDisk));
});
