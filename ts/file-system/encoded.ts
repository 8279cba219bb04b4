// A string as UTF-8, in slices, so that the loop keeps turning however long it is.
import { nextTurn } from "../pace.js";

const SLICE = 256 * 1024;
/** Bytes that one unit of UTF-16 takes at most. */
const MAX_UNIT_BYTES = 3;

export async function encoded(text: string): Promise<Uint8Array> {
  if (text.length <= SLICE) return Buffer.from(text);
  // What is not written to is never paged in.
  const bytes = Buffer.allocUnsafeSlow(MAX_UNIT_BYTES * text.length);
  let length = 0;
  for (let at = 0; at < text.length;) {
    const end = at + SLICE - (partsPair(text, at + SLICE) ? 1 : 0);
    length += bytes.write(text.slice(at, end), length);
    at = end;
    await nextTurn();
  }
  return bytes.subarray(0, length);
}

function partsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
