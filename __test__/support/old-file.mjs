// A file that says "old", which a write replaces whole or leaves alone.
import assert from "node:assert/strict";
import { withHost } from "./host.mjs";
import { leftovers, sha256 } from "./tree.mjs";

export const NAME = "/session/content.bin";

/** A host whose file NAME says "old". */
export async function withOld(t, options = {}) {
  const h = await withHost(t, { trace: { diff: false }, ...options });
  await h.files.write(NAME, "old");
  return h;
}

export async function assertUntouched(h) {
  assert.equal((await h.files.read(NAME)).text(), "old");
  assert.deepEqual(leftovers(h.dataDir), []);
}

export async function assertWrites(h, content, expected, note) {
  const wanted = Buffer.from(expected);
  const ref = await h.files.write(NAME, content);
  assert.equal(ref.bytes, wanted.length, note);
  assert.equal(ref.sha256, sha256(wanted), note);
  assert.ok(wanted.equals(Buffer.from((await h.files.read(NAME)).content)), note);
  return ref;
}
