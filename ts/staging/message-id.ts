// By which id a message is known: its own, or one made from what it says.
import type { MessageLike } from "../../index.js";
import { jsonDigest } from "./json-digest.js";

const MAX_BYTES = 1024;

/** `m_` and 16 hex digits of the sha256 of the message's JSON, where it has no id that can be used. */
export async function messageId(message: MessageLike): Promise<string> {
  const { id } = message as { id?: unknown };
  return isUsable(id) ? id : `m_${(await jsonDigest(message)).slice(0, 16)}`;
}

function isUsable(id: unknown): id is string {
  return (
    typeof id === "string" &&
    id !== "" &&
    id.length <= MAX_BYTES &&
    id.isWellFormed() &&
    Buffer.byteLength(id) <= MAX_BYTES
  );
}
