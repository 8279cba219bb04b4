// What a refusal says: which option it was, what was given, what is accepted. A wrong call must not look like a right one.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { HarnessFileError, PersistentDirConflict, localHost } from "@little-stack/files";
import { fileTools, sessionFileSystem } from "@little-stack/files/tools";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";

/** The error of a call that gives no promise. */
function thrown(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof HarnessFileError, String(error?.stack));
    assert.equal(error.code, "FS_INVALID_OPTION", error.message);
    return error;
  }
  assert.fail(`accepted: ${call}`);
}

test("a number, a word and a list that do not fit are shown, not only their kind", async (t) => {
  const h = await withHost(t);
  const dataDir = path.join(tempDir(t), "data");
  for (const [options, said] of [
    [{ quota: { fileBytes: -1 } }, /fileBytes must be an integer of 0 or more, not the number -1$/],
    [{ durability: "sometimes" }, /not "sometimes"$/],
    [{ concurrentTurns: "x".repeat(99) }, /not "x{40}"$/],
    [{ redaction: { keys: ["a", 7] } }, /not an array of 2$/],
  ]) {
    assert.match(thrown(() => localHost({ dataDir, ...options })).message, said);
  }
  await rejectsWith(h.files.list("/session", { limit: 0 }), "FS_INVALID_OPTION", { message: /not the number 0/ });
  await rejectsWith(h.files.read("/session/a", { encoding: "latin1" }), "FS_INVALID_OPTION", {
    message: /not "latin1"/,
  });
});

test("the option that is named is the one that was given", async (t) => {
  const h = await withHost(t);
  await rejectsWith(h.sessions.list({ after: 7 }), "FS_INVALID_OPTION", { message: /\] after must be/ });
  for (const name of ["limits", "names", "plan"]) {
    assert.match(thrown(() => fileTools({ [name]: 7 })).message, new RegExp(`\\] ${name} must be an object`));
  }
  assert.doesNotMatch(thrown(() => sessionFileSystem({})).message, /undefined/);
});

test("metadata that does not fit: too large, too deep, no JSON, something else", async (t) => {
  const h = await withHost(t);
  let deep = {};
  for (let level = 0; level < 101; level++) deep = { deep };
  const unreadable = {
    toJSON() {
      throw new Error("mine");
    },
  };
  for (const [metadata, said] of [
    [{ text: "x".repeat(70_000) }, /this one is larger/],
    [{ text: "€".repeat(30_000) }, /this one is larger/],
    [deep, /this one is deeper/],
    [{ big: 1n }, /this one has no JSON \(TypeError\)/],
    [unreadable, /this one has no JSON \(Error\)/],
    [{ toJSON: () => "text" }, /makes something else of it/],
    [[], /not an empty array/],
  ]) {
    await rejectsWith(h.files.write("/session/a.txt", "x", { metadata }), "FS_INVALID_OPTION", { message: said });
  }
  assert.deepEqual(fs.readdirSync(h.roots.session), [], "nothing was written");
});

test("an array in place of options is refused", async (t) => {
  const h = await withHost(t);
  thrown(() => localHost([]));
  await rejectsWith(h.files.write("/session/a.txt", "x", []), "FS_INVALID_OPTION", {
    message: /options must be an object/,
  });
  assert.deepEqual(fs.readdirSync(h.roots.session), []);
});

test("run and track of what is no function", async (t) => {
  const h = await withHost(t);
  const turn = await h.main.beginTurn();
  for (const fn of [undefined, 5, {}]) {
    assert.match(thrown(() => turn.run(fn)).message, /fn must be a function/);
    await rejectsWith(turn.track(fn), "FS_INVALID_OPTION", { message: /fn must be a function/ });
  }
  await turn.finish();
});

test("a conflict that names no paths is refused where it is made", () => {
  for (const paths of [undefined, "a.md", [7]]) thrown(() => new PersistentDirConflict(paths));
  assert.deepEqual(new PersistentDirConflict([]).paths, []);
});

test("a source that failed is told by its class, whatever that is; what we take apart ourselves in words", async (t) => {
  const h = await withHost(t);
  async function* failing(error) {
    yield "a";
    throw error;
  }
  for (const error of [new Error("/home/ada/upload"), new HarnessFileError("FS_IO_ERROR", "/home/ada/upload")]) {
    const told = await rejectsWith(h.files.write("/session/a.txt", failing(error)), "FS_INVALID_CONTENT", {
      message: /source failed \([\w, ]+\): \/session\/a\.txt$/,
    });
    assert.equal(told.cause, error);
  }
  for (const [url, said] of [
    ["data:text/csv;base64,@@@", /\] The file's content is not base64: \/session\//],
    ["data:text/csv", /no comma/],
  ]) {
    const message = { id: "m", role: "user", parts: [{ type: "file", mediaType: "text/csv", url }] };
    await rejectsWith(h.main.stageMessages([message]), "FS_INVALID_CONTENT", { message: said });
  }
});
