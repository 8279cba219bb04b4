// Staging the files of users' messages: once for each message, told to the model by a notice, in copies of the messages.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { sha256 } from "./support/tree.mjs";

const dataUrl = (text, mediaType = "text/plain") => `data:${mediaType};base64,${Buffer.from(text).toString("base64")}`;
const file = (filename, text, mediaType) => ({
  type: "file",
  mediaType: mediaType ?? "text/plain",
  filename,
  url: dataUrl(text, mediaType),
});
const user = (id, ...parts) => ({
  ...(id !== undefined && { id }),
  role: "user",
  parts: [{ type: "text", text: "look" }, ...parts],
});
const textOf = (message) => message.parts.filter(({ type }) => type === "text").map(({ text }) => text);
const fails = async () => {
  throw new Error("the hook said no");
};

/** Fails when anything in it changes. */
function frozen(value) {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    for (const each of Object.values(value)) frozen(each);
    Object.freeze(value);
  }
  return value;
}

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

test("what the hook gets", async (t) => {
  const { main } = await withHost(t);
  const signal = new AbortController().signal;
  const message = user("m1", file("a.txt", "1"));
  let input;
  const stageMessage = async (given) => {
    input = given;
  };
  await main.stageMessages([message], { stageMessage, extraBody: { tenant: "t1" }, signal });
  assert.equal(input.message, message);
  assert.equal(input.session.id, main.id);
  assert.deepEqual(input.extraBody, { tenant: "t1" });
  assert.equal(input.abortSignal, signal);
  assert.deepEqual(Object.keys(input.inputFiles[0]), ["name", "safeName", "mediaType", "bytes", "content"]);
  await rejectsWith(input.files.writeText("/session/late.txt", "x"), "FS_CLOSED", { message: /hook/ });
  await main.stageMessages([user("m2", file("a.txt", "1"))], { stageMessage });
  assert.ok(!("extraBody" in input) && !("abortSignal" in input));
});

test("what the hook says", async (t) => {
  const { main } = await withHost(t);
  const parts = [file("a.png", "1", "image/png"), file("b.txt", "2")];
  const say = async (id, result) => {
    const stageMessage = async ({ inputFiles, files }) => {
      if (typeof result !== "function") return result;
      const stagedFiles = await Promise.all(
        inputFiles.map((each) => files.write(`/session/${id}/${each.safeName}`, each.content)),
      );
      return result(stagedFiles);
    };
    const given = await main.stageMessages([user(id, ...parts)], { stageMessage });
    const again = await main.stageMessages([user(id, ...parts)], { stageMessage: fails });
    assert.deepEqual(
      [again.messages, again.notices],
      [given.messages, given.notices],
      `${id}: the same when it is staged already`,
    );
    return { ...given, parts: given.messages[0].parts.slice(1) };
  };
  const listed = (id) =>
    `The user attached 2 files. They are saved in the session as:\n- /session/${id}/a.png (1 byte, image/png)\n- /session/${id}/b.txt (1 byte, text/plain)`;
  const text = (it) => ({ type: "text", text: it });
  assert.deepEqual(
    (await say("nothing", undefined)).parts,
    parts,
    "a hook that did nothing leaves the files to the model",
  );
  assert.deepEqual((await say("empty", {})).parts, parts);
  assert.deepEqual((await say("own notice", { notice: "2 files, see the database" })).parts, [
    text("2 files, see the database"),
  ]);
  assert.deepEqual((await say("files", (stagedFiles) => ({ stagedFiles }))).parts, [text(listed("files"))]);
  assert.deepEqual((await say("quiet", (stagedFiles) => ({ stagedFiles, notice: "" }))).parts, []);
  assert.deepEqual((await say("keep", (stagedFiles) => ({ stagedFiles, keep: true }))).parts, [
    ...parts,
    text(listed("keep")),
  ]);
  const images = ({ mediaType }) => mediaType.startsWith("image/");
  assert.deepEqual((await say("keep images", (stagedFiles) => ({ stagedFiles, keep: images }))).parts, [
    parts[0],
    text(listed("keep images")),
  ]);
  const { staged } = await say("named", (stagedFiles) => ({
    stagedFiles: [{ ...stagedFiles[1], originalName: "x" }, stagedFiles[0]],
  }));
  assert.deepEqual(
    staged.map(({ originalName, messageId }) => [originalName, messageId]),
    [
      ["x", "named"],
      ["a.png", "named"],
    ],
  );
  assert.ok((await say("ill-formed", { notice: "half \ud83d" })).notices[0].isWellFormed());
});

test("a result that makes no sense is refused, and nothing counts as staged", async (t) => {
  const { main } = await withHost(t);
  const results = {
    "a string": "ok",
    "a number": 1,
    "files that are none": { stagedFiles: {} },
    "a file that is none": { stagedFiles: ["/session/a"] },
    "a file without a hash": { stagedFiles: [{ path: "/session/a", bytes: 1 }] },
    "a notice that is none": { notice: 7 },
    "keep that is none": { notice: "x", keep: "all" },
    "metadata that are none": { metadata: [1] },
    "metadata that JSON cannot hold": { metadata: { big: 1n } },
    "a notice without end": { notice: "x".repeat(70_000) },
  };
  for (const [what, result] of Object.entries(results)) {
    await rejectsWith(
      main.stageMessages([user(what, file("a", "1"))], { stageMessage: async () => result }),
      "FS_INVALID_OPTION",
    );
  }
  assert.deepEqual((await main.status()).stagedMessageIds, []);
});

test("options and messages that make no sense", async (t) => {
  const { main, files } = await withHost(t);
  const one = [user("m", file("a", "1"))];
  for (const messages of [undefined, null, "x", {}, [null], [undefined], ["x"], [{ parts: [] }], [{ role: 1 }]]) {
    await rejectsWith(main.stageMessages(messages), "FS_INVALID_OPTION", { message: /messages/ });
  }
  for (const [name, value] of Object.entries({ stageMessage: "x", fetchFile: {}, restage: "yes", signal: {} })) {
    await rejectsWith(main.stageMessages(one, { [name]: value }), "FS_INVALID_OPTION", { message: new RegExp(name) });
  }
  await rejectsWith(main.stageMessages(one, "x"), "FS_INVALID_OPTION");
  const trap = {
    role: "user",
    get parts() {
      throw new Error("a getter that throws");
    },
  };
  await rejectsWith(main.stageMessages([trap]), "FS_INVALID_OPTION", { message: /messages\[0\]/ });
  assert.deepEqual(await files.list("/session"), []);
  assert.deepEqual(await main.stageMessages([]), { messages: [], staged: [], notices: [] });
});

test("restage runs the hook again, and the new notice holds", async (t) => {
  const { main, files } = await withHost(t);
  const message = [user("m1", file("a.txt", "1"))];
  await main.stageMessages(message);
  await files.remove("/session/user-input", { recursive: true });
  await main.stageMessages(message);
  await rejectsWith(files.stat("/session/user-input/m1/a.txt"), "FS_NOT_FOUND");
  const { staged } = await main.stageMessages(message, { restage: true });
  assert.equal(staged.length, 1);
  assert.equal((await files.read("/session/user-input/m1/a.txt")).text(), "1");
  await rejectsWith(main.stageMessages(message, { restage: true, stageMessage: fails }), "FS_IO_ERROR");
  assert.deepEqual(
    textOf((await main.stageMessages(message)).messages[0]).length,
    2,
    "what was staged before still is",
  );
  const stageMessage = async () => ({ notice: "new" });
  assert.deepEqual((await main.stageMessages(message, { restage: true, stageMessage })).notices, ["new"]);
  assert.deepEqual((await main.stageMessages(message)).notices, ["new"]);
});

test("a hook that fails fails the call: messages before it are staged, this one is not", async (t) => {
  const { main } = await withHost(t);
  const messages = ["m1", "m2", "m3"].map((id) => user(id, file("a.txt", id)));
  const thrown = new TypeError("at /home/someone/secret.txt");
  const calls = [];
  const stageMessage = async ({ message, inputFiles, files }) => {
    calls.push(message.id);
    const ref = await files.write(`/session/${message.id}.txt`, inputFiles[0].content);
    if (message.id === "m2" && calls.length < 4) throw thrown;
    return { stagedFiles: [ref] };
  };
  const error = await rejectsWith(main.stageMessages(messages, { stageMessage }), "FS_IO_ERROR", {
    message: /stageMessage.*TypeError/,
  });
  assert.equal(error.cause, thrown);
  assert.doesNotMatch(error.message, /home/);
  assert.deepEqual((await main.status()).stagedMessageIds, ["m1"]);
  await rejectsWith(main.stageMessages(messages, { stageMessage }), "FS_IO_ERROR");
  const { staged } = await main.stageMessages(messages, { stageMessage });
  assert.deepEqual(
    staged.map(({ messageId }) => messageId),
    ["m2", "m3"],
  );
  assert.deepEqual(calls, ["m1", "m2", "m2", "m2", "m3"]);
  assert.deepEqual((await main.status()).stagedMessageIds, ["m1", "m2", "m3"]);
});

test("a write that fails fails the call, with its own code", async (t) => {
  const h = await withHost(t, { quota: { fileBytes: 5 } });
  const message = [user("m1", file("small.txt", "1"), file("large.txt", "123456"))];
  await rejectsWith(h.main.stageMessages(message), "FS_QUOTA_EXCEEDED", { path: "/session/user-input/m1/large.txt" });
  assert.deepEqual((await h.main.status()).stagedMessageIds, []);
  assert.deepEqual(
    h.events.filter(({ type }) => type.endsWith("refused")).map(({ metadata }) => metadata.operation),
    ["write"],
    "told once",
  );
  assert.equal(h.events.filter(({ type }) => type.endsWith("staged_from_message")).length, 0);
  const stageMessage = async ({ inputFiles, files }) => {
    await files.write("/session/../x", inputFiles[0].content);
  };
  await rejectsWith(h.main.stageMessages(message, { stageMessage }), "FS_INVALID_PATH");
  const handles = async ({ inputFiles, files }) => {
    await files.write("/session/x", inputFiles[1].content).catch(() => {});
    return { notice: "one file was too large" };
  };
  assert.deepEqual(
    (await h.main.stageMessages(message, { stageMessage: handles })).notices,
    ["one file was too large"],
    "unless the hook handles it",
  );
});

test(
  "writes that a hook does not wait for are done before its message counts; those of one that failed are aborted",
  { timeout: 20_000 },
  async (t) => {
    const { main, files } = await withHost(t);
    let release;
    const slow = async function* () {
      yield "1";
      await new Promise((resolve) => {
        release = resolve;
      });
      yield "2";
    };
    const stageMessage = async ({ files: its }) => {
      void its.write("/session/slow.txt", slow());
      setTimeout(() => release(), 100);
      return { notice: "x" };
    };
    await main.stageMessages([user("m1", file("a", "1"))], { stageMessage });
    assert.equal((await files.read("/session/slow.txt")).text(), "12");
    let returned = 0;
    const endless = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          returned += 1;
          return { done: true };
        },
      }),
    };
    const failing = async ({ files: its }) => {
      await Promise.all([its.write("/session/never.txt", endless), its.write("/nowhere", "x")]);
    };
    await rejectsWith(main.stageMessages([user("m2", file("a", "1"))], { stageMessage: failing }), "FS_SANDBOX_DENIED");
    assert.equal(returned, 1, "its source was told, once");
    await rejectsWith(files.stat("/session/never.txt"), "FS_NOT_FOUND");
  },
);

test("from inside a hook staging the same session is FS_BUSY, another one is fine", { timeout: 20_000 }, async (t) => {
  const h = await withHost(t);
  const [same, other] = [await h.session(), await h.session("other")];
  const inner = [user("inner", file("b", "2"))];
  let later;
  const stageMessage = async ({ session }) => {
    await rejectsWith(session.stageMessages(inner), "FS_BUSY", { message: /stageMessages/ });
    await rejectsWith(same.stageMessages(inner), "FS_BUSY");
    const back = async () => {
      await rejectsWith(h.main.stageMessages(inner), "FS_BUSY");
      return { notice: "x" };
    };
    assert.equal((await other.stageMessages(inner, { stageMessage: back })).notices.length, 1);
    later = new Promise((resolve) => {
      setTimeout(resolve, 300);
    }).then(() => h.main.stageMessages(inner));
    return { notice: "y" };
  };
  await h.main.stageMessages([user("m1", file("a", "1"))], { stageMessage });
  assert.equal((await later).staged.length, 1, "what the hook left running may stage once it has ended");
});

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
