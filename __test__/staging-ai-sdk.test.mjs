// Staged messages through AI SDK 5, 6 and 7: what their models get in the end, for messages of the UI and of the model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scripted, versions } from "./support/ai-sdk.mjs";
import { withHost } from "./support/host.mjs";

const csv = Buffer.from("a,b\n1,2\n");
const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const dataUrl = (bytes, type) => `data:${type};base64,${bytes.toString("base64")}`;

/** What the model got of the user's messages. */
async function prompted(version, messages) {
  const { model, sent } = scripted(version, [["ok"]]);
  await version.sdk.generateText({ model, messages });
  const shown = ({ type, text, mediaType }) => (type === "text" ? text : mediaType);
  return sent[0].filter(({ role }) => role === "user").map(({ content }) => content.map(shown));
}

const notice = (id, more = "") =>
  `The user attached ${more ? "2 files. They are" : "a file. It is"} saved in the session as:\n- /session/user-input/${id}/sales.csv (8 bytes, text/csv)${more}`;

for (const version of versions) {
  test(`${version.name}: UI messages`, async (t) => {
    const { main } = await withHost(t);
    const messages = [
      {
        id: "u1",
        role: "user",
        parts: [
          { type: "text", text: "sum it up" },
          { type: "file", mediaType: "text/csv", filename: "sales.csv", url: dataUrl(csv, "text/csv") },
        ],
      },
      { id: "a1", role: "assistant", parts: [{ type: "text", text: "3" }] },
      {
        id: "u2",
        role: "user",
        parts: [
          { type: "file", mediaType: "image/png", filename: "chart.png", url: dataUrl(png, "image/png") },
          { type: "text", text: "and this?" },
        ],
      },
    ];
    const keep = ({ mediaType }) => mediaType.startsWith("image/");
    const stageMessage = async ({ message, inputFiles, files }) => {
      const stagedFiles = [];
      for (const { safeName, mediaType, content } of inputFiles)
        stagedFiles.push(await files.write(`/session/user-input/${message.id}/${safeName}`, content, { mediaType }));
      return { stagedFiles, keep };
    };
    for (const round of [1, 2]) {
      const { messages: forModel, staged } = await main.stageMessages(messages, { stageMessage });
      assert.equal(staged.length, round === 1 ? 2 : 0);
      const got = await prompted(version, await version.sdk.convertToModelMessages(forModel));
      const chart =
        "The user attached a file. It is saved in the session as:\n- /session/user-input/u2/chart.png (16 bytes, image/png)";
      assert.deepEqual(got, [
        ["sum it up", notice("u1")],
        ["image/png", "and this?", chart],
      ]);
    }
    assert.equal(messages[0].parts.length, 2, "the transcript is as it was");
  });

  test(`${version.name}: model messages`, async (t) => {
    const { main } = await withHost(t);
    const tagged = version.major === 7 ? { type: "data", data: csv } : csv;
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "sum it up" },
          { type: "file", mediaType: "text/csv", filename: "sales.csv", data: tagged },
          { type: "image", image: new Uint8Array(png) },
        ],
      },
      { role: "assistant", content: "3" },
      { role: "user", content: "thanks" },
    ];
    const { messages: forModel, staged } = await main.stageMessages(messages);
    const id = staged[0].messageId;
    assert.match(id, /^m_[0-9a-f]{16}$/);
    const got = await prompted(version, forModel);
    assert.deepEqual(got, [
      ["sum it up", notice(id, `\n- /session/user-input/${id}/image.png (16 bytes, image/png)`)],
      ["thanks"],
    ]);
    assert.deepEqual((await main.stageMessages(messages)).messages, forModel);
  });
}
