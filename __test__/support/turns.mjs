// Turns for tests: begun, ended with the test, and what their tools gave measured.
import assert from "node:assert/strict";
import { isToolResultFile } from "@little-stack/files";
import { after } from "./host.mjs";
import { sha256 } from "./tree.mjs";

/** Begins a turn that is aborted at the end of the test, unless it ended before. */
export async function begin(t, session, options) {
  const turn = await session.beginTurn(options);
  after(t, () => turn.abort());
  return turn;
}

/** The next turn begins at once: the one before is over, also for other processes. */
export async function nextTurnStarts(session) {
  const next = await session.beginTurn({ signal: AbortSignal.timeout(5000) });
  await next.abort();
}

/** What one tool of this name gives in the turn; `wrap` are the options of `turn.tools`. */
export function toolOf(turn, execute, { name = "query", wrap, ...more } = {}) {
  const { [name]: tool } = turn.tools({ [name]: { ...more, execute } }, wrap);
  return (input = {}, options = { toolCallId: "call-1", messages: [] }) => tool.execute(input, options);
}

/** What a model gets of an output, in bytes: a string as it is, everything else as JSON. */
export function modelBytes(output) {
  return Buffer.byteLength(typeof output === "string" ? output : (JSON.stringify(output) ?? ""));
}

/** All strings inside are well-formed, so every cut kept whole characters. */
export function assertWellFormed(value) {
  if (typeof value === "string")
    assert.ok(value.isWellFormed(), `not well-formed: ${JSON.stringify(value).slice(0, 200)}`);
  else if (Array.isArray(value)) for (const each of value) assertWellFormed(each);
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      assertWellFormed(key);
      assertWellFormed(each);
    }
  }
}

/** The bytes of a file of the session. */
export async function bytesOf(session, path) {
  return Buffer.from((await session.files.read(path)).content);
}

/** All that an async iterable yields. */
export async function all(values) {
  const seen = [];
  for await (const value of values) seen.push(value);
  return seen;
}

/** A promise to be settled by hand. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const DEFAULT_LIMIT = 16_384;

/** What an SDK gives a tool with a call. */
export const call = (toolCallId) => ({ toolCallId, messages: [] });

/** The reference that stands for the value in the turn, and the file, checked against each other. */
export async function offloaded(turn, session, value, { id = "call-1", ...more } = {}) {
  const output = await toolOf(turn, () => value, more)({}, call(id));
  assert.ok(isToolResultFile(output), `stayed inline: ${JSON.stringify(output).slice(0, 200)}`);
  assert.ok(modelBytes(output) <= (more.wrap?.offload?.maxInlineBytes ?? DEFAULT_LIMIT), `${modelBytes(output)} bytes`);
  assertWellFormed(output);
  const stored = await bytesOf(session, output.path);
  assert.equal(stored.length, output.bytes);
  assert.equal(sha256(stored), output.sha256);
  return { output, stored };
}
