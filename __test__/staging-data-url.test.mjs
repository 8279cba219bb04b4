// `data:` URLs and base64 text are decoded to exactly the bytes that were meant, without holding the event loop; what is
// malformed is refused, never skipped.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rejectsWith, withHost } from "./support/host.mjs";
import { staysResponsive } from "./support/stall.mjs";
import { leftovers, sha256 } from "./support/tree.mjs";

const MIB = 2 ** 20;
let messages = 0;

/** The file that a message with this part leads to. */
async function stage(session, part, options) {
  const message = { id: `m${(messages += 1)}`, role: "user", parts: [{ type: "file", ...part }] };
  const { staged } = await session.stageMessages([message], options);
  assert.equal(staged.length, 1);
  return { ...staged[0], content: Buffer.from((await session.files.read(staged[0].path)).content) };
}

/** As a tool would write it that escapes what it must, or more. */
const percent = (bytes, plain) =>
  Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return plain.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");

const spaced = (text, every, space) => text.replace(new RegExp(`.{${every}}`, "g"), (piece) => piece + space);

test("any bytes, both encodings, however they are written", { timeout: 120_000 }, async (t) => {
  const { main } = await withHost(t, { durability: "none", trace: false });
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // Around the places where slices end.
    fc
      .integer({ min: 49_140, max: 49_160 })
      .chain((length) =>
        fc
          .uint8Array({ minLength: 3, maxLength: 3 })
          .map((seed) => Uint8Array.from({ length }, (_, at) => seed[at % 3] ^ (at * 7))),
      ),
  );
  await fc.assert(
    fc.asyncProperty(anyBytes, fc.integer({ min: 1, max: 90 }), async (given, every) => {
      const bytes = Buffer.from(given);
      const base64 = bytes.toString("base64");
      const ways = {
        plain: `data:application/x-any;base64,${base64}`,
        unpadded: `data:application/x-any;base64,${base64.replace(/=+$/, "")}`,
        "for URLs": `data:application/x-any;base64,${bytes.toString("base64url")}`,
        lines: `data:application/x-any;base64,${spaced(base64, every, "\r\n")}`,
        blanks: ` DATA:application/x-any;charset=x; BASE64 ,${spaced(base64, every, " \t\f")} `,
        escaped: `data:application/x-any;base64,${spaced(base64, every, "%0A").replaceAll("+", "%2b").replaceAll("/", "%2F").replaceAll("=", "%3D")}`,
        percent: `data:application/x-any,${percent(bytes, /[a-z0-9]/i)}`,
        "percent, all": `data:application/x-any,${percent(bytes, /(?!)/)}`,
        "percent, in lines": `data:application/x-any,${spaced(percent(bytes, /[a-z0-9]/i), every, "\n")}`,
      };
      for (const [way, url] of Object.entries(ways)) {
        const { content, mediaType } = await stage(main, { url });
        assert.ok(
          content.equals(bytes),
          `${way}: ${content.subarray(0, 50).toString("hex")} for ${bytes.subarray(0, 50).toString("hex")}`,
        );
        assert.equal(mediaType, "application/x-any", way);
      }
      assert.ok(
        (await stage(main, { mediaType: "application/x-any", data: spaced(base64, every, "\n") })).content.equals(
          bytes,
        ),
      );
    }),
    { numRuns: 40 },
  );
});

test("text is what fetch makes of it", async (t) => {
  const { main } = await withHost(t);
  for (const body of [
    "",
    "plain",
    "a%20b",
    "a b",
    "100% sure",
    "%zz%4",
    "%e6%97%a5",
    "日本 ü 😀",
    "a,b;c",
    "tab\there",
    "%",
    "a%0Ab",
    "<svg xmlns='x'/>",
  ]) {
    const url = `data:text/plain,${body}`;
    const { content } = await stage(main, { url });
    assert.ok(content.equals(Buffer.from(await (await fetch(url)).arrayBuffer())), body);
  }
});

test("media types of data: URLs", async (t) => {
  const { main } = await withHost(t);
  const heads = {
    "": "text/plain",
    ";base64": "text/plain",
    "text/csv": "text/csv",
    "Text/CSV;charset=utf-8": "text/csv",
    "image/svg+xml;utf8": "image/svg+xml",
    nonsense: "text/plain",
    ";charset=x": "text/plain",
    "text/html;x=base64": "text/html",
  };
  for (const [head, expected] of Object.entries(heads)) {
    assert.equal((await stage(main, { url: `data:${head},QUJD` })).mediaType, expected, head);
    assert.equal(
      (await stage(main, { url: `data:${head},QUJD`, mediaType: "application/x-own" })).mediaType,
      "application/x-own",
    );
  }
});

test("what is malformed is FS_INVALID_CONTENT, leaves nothing, and does not count as staged", async (t) => {
  const h = await withHost(t);
  const long = "QUJD".repeat(40_000);
  const malformed = {
    "no comma": "data:text/plain;base64",
    "no comma within reach": `data:${"x".repeat(9000)},a`,
    "one digit left": "data:;base64,QUJDR",
    "a character that is none": "data:;base64,QUJ*",
    "a character that is none, far away": `data:;base64,${long}Q!JD${long}`,
    "not ASCII": "data:;base64,QUJé",
    "padding inside": "data:;base64,QQ==QUJD",
    "padding inside, far apart": `data:;base64,QQ==${" ".repeat(70_000)}QUJD`,
    "too much padding": "data:;base64,QUI==",
    "much too much padding": `data:;base64,QUJD${"=".repeat(70_000)}x`,
    "padding alone": "data:;base64,=",
    "half an escape": "data:;base64,QUJD%2",
    "an escape of what is none": "data:;base64,QUJD%00",
    "a fragment": "data:;base64,QUJD#page=2",
    "a fragment of text": "data:text/markdown,# Title",
  };
  for (const [what, url] of Object.entries(malformed)) {
    const message = { id: what, role: "user", parts: [{ type: "file", filename: "a.bin", url }] };
    await rejectsWith(h.main.stageMessages([message]), "FS_INVALID_CONTENT");
    await rejectsWith(h.main.stageMessages([message]), "FS_INVALID_CONTENT");
  }
  assert.deepEqual(await h.files.list("/session", { recursive: true, pattern: "**/*.bin" }), []);
  assert.deepEqual((await h.main.status()).stagedMessageIds, []);
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("a hook may read a data: URL more than once, and knows its size", async (t) => {
  const { main } = await withHost(t);
  const stageMessage = async ({ inputFiles: [file], files }) => {
    assert.equal(file.bytes, 5);
    assert.equal(Buffer.concat([...file.content]).toString(), "hello");
    return {
      stagedFiles: [await files.write("/session/a", file.content), await files.write("/session/b", file.content)],
    };
  };
  const parts = [{ type: "file", url: "data:;base64,aGVsbG8=" }];
  const { staged } = await main.stageMessages([{ id: "twice", role: "user", parts }], { stageMessage });
  assert.deepEqual(
    staged.map(({ bytes }) => bytes),
    [5, 5],
  );
});

for (const [how, url] of Object.entries({
  base64: (text) => `data:application/octet-stream;base64,${text.repeat((50 * MIB) / 48)}`,
  "base64 in lines": (text) => `data:application/octet-stream;base64,${`${text}\r\n`.repeat((50 * MIB) / 48)}`,
  "percent-encoded": (text) => `data:application/octet-stream,${`${text}%00%ff`.repeat((50 * MIB) / 70)}`,
})) {
  test(`50 MB as a data: URL (${how}) do not hold the event loop`, { timeout: 240_000 }, async (t) => {
    const h = await withHost(t, { durability: "none", trace: { diff: false } });
    const text = Buffer.from("0123456789abcdef".repeat(3)).toString("base64"); // 64 characters
    const long = Buffer.from(url(text), "latin1").toString("latin1"); // one flat string, as JSON.parse gives
    let n = 0;
    // Without an id, so that it is made from all of the content.
    const message = () => ({
      role: "user",
      round: (n += 1),
      parts: [{ type: "file", filename: "big.bin", url: long }],
    });
    let result;
    const gap = await staysResponsive(async () => {
      result = await h.main.stageMessages([message()]);
    });
    t.diagnostic(`longest gap ${Math.round(gap)} ms`);
    const [ref] = result.staged;
    assert.ok(ref.bytes > 45 * MIB);
    assert.equal(ref.sha256, sha256((await h.files.read(ref.path)).content));
    // Again, staged already: only the id is made anew.
    const again = { role: "user", round: n, parts: [{ type: "file", filename: "big.bin", url: long }] };
    await staysResponsive(async () => {
      assert.deepEqual((await h.main.stageMessages([again])).staged, []);
    });
  });
}
