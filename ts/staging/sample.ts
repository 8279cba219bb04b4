// A short digest of a file's size, beginning and end: enough to tell a file that was exchanged, cheap however large it is.
import { createHash } from "node:crypto";

const ENDS = 512;
const DIGITS = 12;

export function sampleOfText(text: string): string {
  return digest(`${text.length} ${text.slice(0, ENDS)} ${text.slice(-ENDS)}`);
}

export function sampleOfBytes(bytes: Uint8Array): string {
  const ends = [bytes.subarray(0, ENDS), bytes.subarray(-ENDS)].map((end) => Buffer.from(end).toString("latin1"));
  return digest(`${bytes.byteLength} ${ends.join(" ")}`);
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, DIGITS);
}
