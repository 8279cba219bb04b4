// What JSON makes of a buffer at the top of a result, in bytes: a member for each number in it.
import { OVER } from "./measure.js";

/** `{"type":"Buffer","data":[]}` */
const BUFFER_FRAME = 27;
/** Quotes, colon and comma around an index. */
const MEMBER_FRAME = 4;
/** The longest number, a sign and an exponent with it. */
const MAX_NUMBER = 25;

/** The size, or OVER. Never less than what a consumer gets, whichever way it writes the buffer. */
export function sizeOfBytes(value: ArrayBufferView | ArrayBuffer, limit: number): number {
  // Each byte takes two at least, a digit and a comma.
  if (2 * value.byteLength > limit) return OVER;
  const size = Buffer.isBuffer(value) ? sizeOfBuffer(value) : sizeOfMembers(value);
  return size > limit ? OVER : size;
}

function sizeOfBuffer(value: Buffer): number {
  let size = BUFFER_FRAME + Math.max(0, value.length - 1);
  for (const byte of value) size += digits(byte);
  return size;
}

function sizeOfMembers(value: ArrayBufferView | ArrayBuffer): number {
  const bytes = value instanceof Uint8Array ? value : undefined;
  const count = bytes?.length ?? (value as Partial<Float64Array>).length ?? value.byteLength;
  let size = 2;
  for (let at = 0; at < count; at++)
    size += digits(at) + MEMBER_FRAME + (bytes === undefined ? MAX_NUMBER : digits(bytes[at] as number));
  return size;
}

function digits(number: number): number {
  return String(number).length;
}
