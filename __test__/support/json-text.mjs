// writeJSON beside JSON.stringify.
import assert from "node:assert/strict";
import { rejectsWith } from "./host.mjs";

export const NAME = "/session/value.json";

/** What writeJSON made of the value, as bytes. */
export async function written(h, value) {
  const ref = await h.files.writeJSON(NAME, value);
  const data = await h.files.read(NAME);
  assert.equal(ref.bytes, data.content.length);
  assert.equal(ref.mediaType, "application/json");
  return Buffer.from(data.content);
}

/** Both get a value of their own, so that neither sees what the other did to it. */
export async function assertSame(h, make, note = "") {
  let text;
  try {
    text = JSON.stringify(make(), null, 2);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    await rejectsWith(h.files.writeJSON(NAME, make()), "FS_INVALID_CONTENT");
    return;
  }
  const ours = await written(h, make());
  if (!ours.equals(Buffer.from(text))) assert.equal(ours.toString(), text, note); // a difference that a person can read
}

export const withToJSON = (toJSON) => ({ toJSON });

export function nested(depth, wrap) {
  let value = "bottom";
  for (let at = 0; at < depth; at++) value = wrap(value, at);
  return value;
}
