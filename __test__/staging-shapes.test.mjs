// Every shape in which a message of the AI SDK 4 to 7 holds a file: what is staged of it, and what stays as it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withHost } from "./support/host.mjs";

const TEXT = "name,amount\nada,3\n";
const bytes = Buffer.from(TEXT);
const base64 = bytes.toString("base64");
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const JPEG = Buffer.from("ffd8ffe000104a464946000101000001", "hex");
const padded = (view) => {
  const all = new Uint8Array(view.length + 7);
  all.set(view, 3);
  return all.subarray(3, 3 + view.length);
};
const file = (more) => ({ type: "file", mediaType: "text/csv", filename: "sales.csv", ...more });

/** What the hook got, with all of its bytes. */
async function staged(session, message) {
  let given = [];
  const stageMessage = async ({ inputFiles, files }) => {
    given = inputFiles;
    const stagedFiles = [];
    for (const { safeName, content } of inputFiles)
      stagedFiles.push(await files.write(`/session/in/${safeName}`, content));
    return { stagedFiles };
  };
  const result = await session.stageMessages([message], { stageMessage });
  const read = await Promise.all(result.staged.map(({ path }) => session.files.read(path)));
  return { result, given, contents: read.map(({ content }) => Buffer.from(content)) };
}

const parts = {
  "5, 6, 7: a data: URL": file({ url: `data:text/csv;base64,${base64}` }),
  "5, 6, 7: a data: URL in a URL": file({ url: new URL(`data:text/csv;base64,${base64}`) }),
  "model: base64": file({ data: base64 }),
  "model: base64 for URLs": file({ data: bytes.toString("base64url") }),
  "model: a data: URL": file({ data: `data:text/csv;base64,${base64}` }),
  "model: a data: URL as URL": file({ data: new URL(`data:text/csv,${encodeURIComponent(TEXT)}`) }),
  "model: a Uint8Array": file({ data: padded(bytes) }),
  "model: a Buffer": file({ data: bytes }),
  "model: an ArrayBuffer": file({ data: new Uint8Array(bytes).buffer }),
  "model: a view of 16 bit": file({ data: new Uint16Array(new Uint8Array(bytes).buffer) }),
  "7: tagged data": file({ data: { type: "data", data: bytes } }),
  "7: tagged base64": file({ data: { type: "data", data: base64 } }),
  "7: tagged data: URL": file({ data: { type: "url", url: new URL(`data:;base64,${base64}`) } }),
  "7: tagged text": file({ data: { type: "text", text: TEXT } }),
  "4: data with mimeType": { type: "file", mimeType: "text/csv", filename: "sales.csv", data: base64 },
  "a Blob": file({ data: new Blob([bytes]) }),
  "a File": { type: "file", file: new File([bytes], "sales.csv", { type: "text/csv" }) },
  "a File that is the part": new File([bytes], "sales.csv", { type: "text/csv" }),
};

for (const place of ["parts", "content"]) {
  test(`file parts in ${place}`, async (t) => {
    const { main } = await withHost(t);
    for (const [shape, part] of Object.entries(parts)) {
      const text = { type: "text", text: "look" };
      const message = { id: `${place} ${shape}`, role: "user", [place]: [text, part] };
      const { result, given, contents } = await staged(main, message);
      assert.equal(given.length, 1, shape);
      const { name, safeName, mediaType, bytes: size } = given[0];
      assert.deepEqual(
        { name, safeName, mediaType },
        { name: "sales.csv", safeName: "sales.csv", mediaType: "text/csv" },
        shape,
      );
      assert.ok(contents[0].equals(bytes), shape);
      if (!/URL as URL|tagged text/.test(shape)) assert.equal(size, bytes.length, shape);
      assert.deepEqual(result.messages[0][place], [text, { type: "text", text: result.notices[0] }], shape);
      assert.equal(message[place].length, 2);
    }
  });
}

test("images: their type is found where it is not given, as the SDK finds it", async (t) => {
  const { main } = await withHost(t);
  const images = [
    { type: "image", image: PNG },
    { type: "image", image: JPEG.toString("base64") },
    { type: "image", image: `data:image/webp;base64,${base64}` },
    { type: "image", image: PNG, mediaType: "image/x-own" },
    { type: "image", image: PNG, mimeType: "image/png" },
    { type: "image", image: bytes },
    { type: "file", mediaType: "image", data: PNG },
    { type: "file", mediaType: "image/*", data: PNG },
    { type: "file", mediaType: "audio", data: bytes },
  ];
  const { given } = await staged(main, { id: "images", role: "user", content: images });
  assert.deepEqual(
    given.map(({ name, safeName, mediaType }) => [name, safeName, mediaType]),
    [
      ["image.png", "image.png", "image/png"],
      ["image.jpg", "image.jpg", "image/jpeg"],
      ["image.webp", "image.webp", "image/webp"],
      ["image", "image", "image/x-own"],
      ["image.png", "image-2.png", "image/png"],
      ["image", "image-2", "image/*"],
      ["image.png", "image-3.png", "image/png"],
      ["image.png", "image-4.png", "image/png"],
      ["audio", "audio", "audio/*"],
    ],
  );
});

test("half a media type is left to the file's extension", async (t) => {
  const { main } = await withHost(t);
  const part = { type: "file", mediaType: "text", filename: "a.md", data: bytes };
  const {
    staged: [ref],
  } = await main.stageMessages([{ id: "half", role: "user", content: [part] }]);
  assert.equal(ref.mediaType, "text/markdown");
});

test("4: experimental_attachments, as objects, as Files and as a FileList", async (t) => {
  const { main } = await withHost(t);
  const attachments = [
    { name: "sales.csv", contentType: "text/csv", url: `data:text/csv;base64,${base64}` },
    { name: "far.csv", url: "https://example.com/far.csv" },
    new File([bytes], "own.csv", { type: "text/csv" }),
  ];
  const fileList = { length: 3, 0: attachments[0], 1: attachments[1], 2: attachments[2] };
  for (const [id, list] of Object.entries({ array: attachments, fileList })) {
    const message = {
      id,
      role: "user",
      content: "look",
      parts: [{ type: "text", text: "look" }],
      experimental_attachments: list,
    };
    const {
      result: {
        messages: [copy],
        notices,
      },
      given,
    } = await staged(main, message);
    assert.deepEqual(
      given.map(({ name }) => name),
      ["sales.csv", "own.csv"],
    );
    assert.deepEqual(copy.experimental_attachments, [attachments[1]], "what could not be staged stays");
    assert.equal(copy.content, `look\n\n${notices[0]}`);
    assert.deepEqual(copy.parts, [
      { type: "text", text: "look" },
      { type: "text", text: notices[0] },
    ]);
    assert.equal(message.experimental_attachments, list);
  }
  const only = { id: "only", role: "user", content: "", experimental_attachments: [attachments[0]] };
  const {
    result: {
      messages: [copy],
      notices,
    },
  } = await staged(main, only);
  assert.deepEqual(copy, { id: "only", role: "user", content: notices[0] });
});

test("what is not staged stays, and its message is the same object", async (t) => {
  const { main, files } = await withHost(t);
  const stay = [
    { type: "text", text: "hello" },
    { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
    { type: "file", mediaType: "image/png", url: "blob:https://example.com/1" },
    { type: "file", mediaType: "image/png", url: "file:///etc/passwd" },
    { type: "file", mediaType: "image/png", url: "gs://bucket/a.png" },
    { type: "file", mediaType: "image/png", url: "/uploads/a.png" },
    { type: "file", mediaType: "image/png", url: "" },
    {
      type: "file",
      mediaType: "image/png",
      url: `data:image/png;base64,${base64}`,
      providerReference: { openai: "file-1" },
    },
    { type: "file", mediaType: "image/png", data: { openai: "file-1" } },
    { type: "file", mediaType: "image/png", data: { type: "reference", reference: { openai: "file-1" } } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
    { type: "file", mediaType: "image/png" },
    { type: "image", image: new URL("http://example.com/a.png") },
    { type: "image" },
    { type: "data-file", data: { url: `data:,x` } },
    { type: "source-document", mediaType: "text/csv", filename: "a.csv" },
    null,
    "text",
    7,
  ];
  const messages = [
    { id: "1", role: "user", parts: stay },
    { id: "2", role: "user", content: stay },
    { id: "3", role: "user", content: "hello" },
    { id: "4", role: "user" },
    { id: "5", role: "assistant", parts: [parts["5, 6, 7: a data: URL"]] },
    { role: "assistant", content: [parts["model: base64"]] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", output: { type: "content", value: [parts["model: base64"]] } }],
    },
    { role: "system", content: "be kind" },
    { id: "6", role: "user", experimental_attachments: { length: 1e15 } },
  ];
  const stageMessage = async () => assert.fail("there is nothing to stage");
  const result = await main.stageMessages(messages, { stageMessage });
  assert.notEqual(result.messages, messages);
  assert.equal(result.messages.length, messages.length);
  for (const [at, message] of messages.entries()) assert.equal(result.messages[at], message, `message ${at}`);
  assert.deepEqual([result.staged, result.notices], [[], []]);
  assert.deepEqual(await files.list("/session"), []);
});
