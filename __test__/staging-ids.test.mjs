// Messages without an id are known by what they say, and any id is safe.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { file, user } from "./support/staging.mjs";

test("messages without an id are known by the digest of their JSON", async (t) => {
  const { main, files } = await withHost(t);
  const hex = (value) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
  const lone = "a\ud800b".repeat(10_000);
  const plain = [
    user(undefined, file("a.txt", "1")),
    {
      role: "user",
      content: [
        { type: "file", mediaType: "text/plain", data: "QUJD".repeat(30_000), filename: "b" },
        { type: "text", text: `"quotes"\n${"é😀\\".repeat(9_000)}${lone}` },
      ],
      providerOptions: { x: [1, null, undefined, { y: new Date(0) }] },
      gone: undefined,
    },
    { id: "", role: "user", content: [{ type: "file", data: "QUJD" }] },
    { id: 7, role: "user", content: [{ type: "file", data: "QUJD" }] },
    { id: "x".repeat(1025), role: "user", content: [{ type: "file", data: "QUJD" }] },
    { id: "\ud800", role: "user", content: [{ type: "file", data: new URL("data:,x") }] },
  ];
  const { staged } = await main.stageMessages(plain);
  assert.deepEqual(
    staged.map(({ messageId }) => messageId),
    plain.map((message) => `m_${hex(message)}`),
  );
  assert.ok(staged.every(({ path, messageId }) => path.startsWith(`/session/user-input/${messageId}/`)));

  const bytes = (last, Kind = Uint8Array) => {
    const all = new Kind(300_000 / Kind.BYTES_PER_ELEMENT);
    all[all.length - 1] = last;
    return all;
  };
  const withData = (data) => ({ role: "user", content: [{ type: "file", filename: "a", data }] });
  const ids = [];
  for (const data of [
    bytes(1),
    bytes(2),
    bytes(1),
    Buffer.from(bytes(3)),
    bytes(4).buffer,
    bytes(5).buffer,
    new Blob([bytes(6)]),
    new Blob([bytes(7)]),
    { type: "data", data: bytes(8) },
    { type: "data", data: bytes(9) },
  ]) {
    ids.push((await main.stageMessages([withData(data)], { restage: true })).staged[0].messageId);
  }
  assert.equal(new Set(ids).size, ids.length - 1, "one was given twice");
  assert.equal(ids[0], ids[2]);
  const twice = [withData("QUJD"), withData("QUJD")];
  const result = await main.stageMessages([...twice, withData("QUJE")]);
  assert.equal(result.staged.length, 2, "two messages that say the same are one");
  assert.deepEqual(result.messages[0], result.messages[1]);
  const cycle = withData("QUJD");
  cycle.self = cycle;
  await rejectsWith(main.stageMessages([cycle]), "FS_INVALID_CONTENT", { message: /id/ });
  await rejectsWith(main.stageMessages([{ ...withData("QUJD"), big: 1n }]), "FS_INVALID_CONTENT");
  assert.equal((await files.list("/session/user-input")).length, plain.length + ids.length - 1 + 2);
});

test("any id is safe: as a folder, and for others", async (t) => {
  const { main, files } = await withHost(t);
  const ids = [
    "../../x",
    "..",
    ".",
    "/",
    "a/b",
    "a?b",
    "a:b",
    "CON",
    "nul.txt",
    "x".repeat(1024),
    "é",
    "constructor",
    "__proto__",
    "'; drop table messages; --",
    "\u0000",
    "a\nb",
  ];
  const { staged } = await main.stageMessages(ids.map((id) => user(id, file("a.txt", id))));
  assert.deepEqual(
    staged.map(({ messageId }) => messageId),
    ids,
  );
  assert.equal(new Set(staged.map(({ path }) => path.toLowerCase())).size, ids.length);
  for (const [at, { path }] of staged.entries()) {
    assert.match(path, /^\/session\/user-input\/[\w~.-]{1,120}\/a\.txt$/);
    assert.equal((await files.read(path)).text(), ids[at]);
  }
  assert.deepEqual((await main.status()).stagedMessageIds.toSorted(), ids.toSorted());
  assert.deepEqual((await main.stageMessages(ids.map((id) => user(id, file("a.txt", id))))).staged, []);
});
