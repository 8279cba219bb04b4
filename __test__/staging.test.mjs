// Staging the files of users' messages: once for each message, told to the model by a notice, in copies of the messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { fails, file, frozen, user } from "./support/staging.mjs";
import { sha256 } from "./support/tree.mjs";

test("by default files go to a folder of their message, and the model is told where", async (t) => {
  const h = await withHost(t);
  const messages = frozen([
    { id: "s", role: "system", parts: [{ type: "text", text: "be kind" }] },
    user("m1", file("sales.csv", "a,b\n", "text/csv"), file("Größe 1.txt", "12")),
    { id: "a1", role: "assistant", parts: [{ type: "text", text: "ok" }] },
    user("m2"),
  ]);
  const before = JSON.stringify(messages);
  const result = await h.main.stageMessages(messages);
  const notice =
    "The user attached 2 files. They are saved in the session as:\n" +
    "- /session/user-input/m1/sales.csv (4 bytes, text/csv)\n" +
    "- /session/user-input/m1/Größe_1.txt (2 bytes, text/plain)";
  assert.deepEqual(result, {
    messages: [
      messages[0],
      { ...messages[1], parts: [messages[1].parts[0], { type: "text", text: notice }] },
      messages[2],
      messages[3],
    ],
    staged: [
      {
        path: "/session/user-input/m1/sales.csv",
        bytes: 4,
        sha256: sha256("a,b\n"),
        mediaType: "text/csv",
        messageId: "m1",
        originalName: "sales.csv",
      },
      {
        path: "/session/user-input/m1/Größe_1.txt",
        bytes: 2,
        sha256: sha256("12"),
        mediaType: "text/plain",
        messageId: "m1",
        originalName: "Größe 1.txt",
      },
    ],
    notices: [notice],
  });
  for (const at of [0, 2, 3]) assert.equal(result.messages[at], messages[at]);
  assert.equal(result.messages[1].parts[0], messages[1].parts[0]);
  assert.equal(JSON.stringify(messages), before);
  assert.equal((await h.files.read("/session/user-input/m1/sales.csv")).text(), "a,b\n");
  assert.deepEqual((await h.main.status()).stagedMessageIds, ["m1"]);

  const again = await h.main.stageMessages(messages, { stageMessage: fails });
  assert.deepEqual(
    [again.messages, again.notices, again.staged],
    [result.messages, result.notices, []],
    "the same, and nothing was done",
  );
});

test("every staged file is told, after it was written and before the call settles", async (t) => {
  const h = await withHost(t, { redaction: { keys: ["ticket"] } });
  await h.main.stageMessages([user("m1", file("a.txt", "1"))]);
  const stageMessage = async ({ inputFiles, files }) => ({
    stagedFiles: [
      {
        ...(await files.write("/artifacts/b.txt", inputFiles[0].content, { source: "mail" })),
        originalName: "their b",
      },
    ],
    metadata: { scan: "clean", password: "hunter2", ticket: 7 },
  });
  await h.main.stageMessages([user("m2", file("b.txt", "22"))], { stageMessage });
  const about = h.events
    .filter(({ type }) => type !== "harness.artifact.created")
    .map(({ type, metadata, turnId }) => ({ type, turnId, metadata }));
  assert.deepEqual(
    about.map(({ type }) => type),
    [
      "harness.file.created",
      "harness.file.staged_from_message",
      "harness.file.created",
      "harness.file.staged_from_message",
    ],
  );
  assert.equal(about[0].metadata.source, "user-message");
  assert.equal(about[2].metadata.source, "mail");
  assert.deepEqual(about[1].metadata, {
    messageId: "m1",
    path: "/session/user-input/m1/a.txt",
    root: "session",
    source: "user-message",
    originalName: "a.txt",
    mediaType: "text/plain",
    bytes: 1,
    sha256: sha256("1"),
    after: { bytes: 1, sha256: sha256("1") },
  });
  assert.deepEqual(about[3].metadata, {
    metadata: { scan: "clean", password: "[redacted]", ticket: "[redacted]" },
    messageId: "m2",
    path: "/artifacts/b.txt",
    root: "artifacts",
    source: "user-message",
    originalName: "their b",
    mediaType: "text/plain",
    bytes: 2,
    sha256: sha256("22"),
    after: { bytes: 2, sha256: sha256("22") },
  });
});

test("files that come into a staged message are not lost, and those that moved to a URL are known", async (t) => {
  const { main } = await withHost(t);
  const [a, b] = [file("a.txt", "1"), file("b.txt", "2")];
  await main.stageMessages([user("m1", a, b)]);
  const parts = async (...given) => (await main.stageMessages([user("m1", ...given)])).messages[0].parts.slice(1, -1);
  assert.deepEqual(await parts(b, a), [], "in any order");
  assert.deepEqual(await parts(a), []);
  const moved = {
    type: "file",
    mediaType: "text/plain",
    filename: "a.txt",
    url: "https://files.example.com/1?signature=2",
  };
  assert.deepEqual(await parts(moved, b), [], "an app may keep uploads elsewhere");
  const edited = file("a.txt", "another one");
  assert.deepEqual(await parts(edited, b), [edited], "not staged, so the model gets it as it came");
  const added = file("c.txt", "3");
  assert.deepEqual(await parts(a, b, added), [added]);
  assert.deepEqual(await parts(a, b, { ...a }), [a], "once more than it was staged");
  const { messages, staged } = await main.stageMessages([user("m1", edited, b, added)], { restage: true });
  assert.equal(staged.length, 3);
  assert.equal(messages[0].parts.length, 2);
});

test("a notice stays short, however many files there are", async (t) => {
  const { main } = await withHost(t, { trace: { diff: false } });
  const many = Array.from({ length: 400 }, (_, at) => file(`${"long-name-".repeat(10)}${at}.txt`, String(at)));
  const {
    notices: [notice],
    staged,
    messages,
  } = await main.stageMessages([user("m1", ...many)]);
  assert.equal(staged.length, 400);
  assert.equal(messages[0].parts.length, 2);
  assert.ok(notice.length < 16_000);
  assert.match(notice, /^The user attached 400 files\./);
  assert.match(notice, /\n- and 350 more in /);
  assert.deepEqual((await main.stageMessages([user("m1", ...many)])).messages, messages);
});

test("marks outlive the host, and go with the session", async (t) => {
  const h = await withHost(t);
  const messages = [user("m1", file("a.txt", "1"))];
  const first = await h.main.stageMessages(messages);
  await h.close();
  const again = await withHost(t, { base: h.base });
  assert.deepEqual((await again.main.stageMessages(messages, { stageMessage: fails })).messages, first.messages);
  await again.sessions.delete("test");
  const anew = await again.session();
  assert.equal((await anew.stageMessages(messages)).staged.length, 1);
});

test("closing waits for it, and lets it finish; afterwards it is FS_CLOSED", async (t) => {
  const h = await withHost(t);
  let inHook;
  const reached = new Promise((resolve) => {
    inHook = resolve;
  });
  let go;
  const released = new Promise((resolve) => {
    go = resolve;
  });
  const stageMessage = async ({ inputFiles: [each], files }) => {
    inHook();
    await released;
    return { stagedFiles: [await files.write("/session/a.txt", each.content)] };
  };
  const staging = h.main.stageMessages([user("m1", file("a.txt", "1"))], { stageMessage });
  await reached;
  const closing = h.main.close();
  go();
  assert.equal((await staging).staged.length, 1);
  await closing;
  await rejectsWith(h.main.stageMessages([user("m1", file("a.txt", "1"))]), "FS_CLOSED");
});
