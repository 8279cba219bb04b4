// Moves one string into batches as UTF-8, slice by slice, so that its size never holds the loop.
import { BATCH_BYTES, type Batch } from "./batch.js";

const SLICE = 64 * 1024;
/** No character takes more. */
const MAX_CHARACTER_BYTES = 4;

const encoder = new TextEncoder();

export class TextFeed {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Writes what fits; true when the whole string is in. */
  into(batch: Batch): boolean {
    while (this.#at < this.#text.length) {
      if (batch.room < MAX_CHARACTER_BYTES) return false;
      const slice = this.#text.slice(this.#at, sliceEnd(this.#text, this.#at + SLICE));
      const { read, written } = encoder.encodeInto(slice, batch.bytes.subarray(batch.length, BATCH_BYTES));
      batch.length += written;
      this.#at += read;
    }
    return true;
  }
}

/** `end`, or one less where it would part a surrogate pair. */
export function sliceEnd(text: string, end: number): number {
  return end < text.length && isHighSurrogate(text, end - 1) ? end - 1 : end;
}

export function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
