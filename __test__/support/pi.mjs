// pi's file operations over a session of its own, and what their results must be.
import assert from "node:assert/strict";
import { piExecutionFiles } from "@little-stack/files/pi";
import { withHost } from "./host.mjs";

export async function withPi(t, options) {
  const h = await withHost(t, options);
  const session = await h.host.sessions.getOrCreate({ id: "test" });
  return { ...h, session, pi: piExecutionFiles(session) };
}

export const ok = async (promise) => {
  const result = await promise;
  assert.equal(result.ok, true, JSON.stringify(result));
  return result.value;
};
export const fails = async (promise, code) => {
  const result = await promise;
  assert.equal(result.ok, false, JSON.stringify(result));
  assert.equal(result.error.code, code, result.error.message);
  assert.ok(result.error instanceof Error);
  return result.error;
};
