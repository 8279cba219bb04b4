// The hook: what it gets, what it may say, and what comes of it when it fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { fails, file, textOf, user } from "./support/staging.mjs";

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
