// Writes the pieces of JSON text into a batch, byte by byte: for pieces as short as most are, that beats any built-in.
import { BATCH_BYTES, type Batch } from "../source/batch.js";
import { TextFeed } from "../source/text-feed.js";
import { QuotedFeed } from "./quoted-feed.js";

/** Longer pieces are fed in slices. */
const MAX_SHORT = 1024;
/** More than a member takes: indent, key and string, each of MAX_SHORT characters and all escaped. */
const MEMBER_BYTES = 16 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonBytes {
  /** Too long for a member, in order. While there is any, all text goes there. */
  readonly #waiting: Array<TextFeed | QuotedFeed> = [];
  #batch: Batch | undefined;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  /** What is written goes here, until `leave`. */
  enter(batch: Batch): void {
    this.#batch = batch;
    this.#bytes = batch.bytes;
    this.#at = batch.length;
  }

  leave(): void {
    if (this.#batch !== undefined) this.#batch.length = this.#at;
    this.#batch = undefined;
  }

  /** Moves what waits into the batch; true when there is room for another member after it. */
  hasRoom(): boolean {
    return (this.#waiting.length === 0 || this.#drain()) && BATCH_BYTES - this.#at >= MEMBER_BYTES;
  }

  #drain(): boolean {
    const batch = this.#batch;
    if (batch === undefined) return false;
    batch.length = this.#at;
    while (this.#waiting[0]?.into(batch)) this.#waiting.shift();
    this.#at = batch.length;
    return this.#waiting.length === 0;
  }

  get drained(): boolean {
    return this.#waiting.length === 0;
  }

  /** Any text. */
  feed(text: string): void {
    this.#waiting.push(new TextFeed(text));
  }

  /** ASCII, as everything is but strings and keys. */
  ascii(text: string): void {
    if (this.#waiting.length > 0 || text.length > MAX_SHORT) return this.feed(text);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
    this.#at = at;
  }

  copy(from: Uint8Array, start: number): void {
    if (this.#waiting.length > 0) return this.feed(Buffer.from(from.subarray(start)).toString());
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = start; index < from.length; index++) bytes[at++] = from[index] as number;
    this.#at = at;
  }

  /** A string or key, quoted. */
  quoted(text: string): void {
    const { length } = text;
    if (this.#waiting.length > 0 || length > MAX_SHORT) {
      this.#waiting.push(new QuotedFeed(text));
      return;
    }
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = QUOTE;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) {
        if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH) at = escape(bytes, at, unit);
        else bytes[at++] = unit;
      } else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6);
        bytes[at++] = 0x80 | (unit & 0x3f);
      } else if (unit < 0xd800 || unit > 0xdfff) {
        bytes[at++] = 0xe0 | (unit >> 12);
        bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
        bytes[at++] = 0x80 | (unit & 0x3f);
      } else {
        const point = text.codePointAt(index) as number;
        if (point > 0xffff) index++;
        at = point > 0xffff ? encodePair(bytes, at, point) : escape(bytes, at, unit);
      }
    }
    bytes[at++] = QUOTE;
    this.#at = at;
  }
}

function encodePair(bytes: Uint8Array, at: number, point: number): number {
  bytes[at] = 0xf0 | (point >> 18);
  bytes[at + 1] = 0x80 | ((point >> 12) & 0x3f);
  bytes[at + 2] = 0x80 | ((point >> 6) & 0x3f);
  bytes[at + 3] = 0x80 | (point & 0x3f);
  return at + 4;
}

/** As JSON.stringify does it, lone surrogates included. */
function escape(bytes: Uint8Array, at: number, unit: number): number {
  const escaped = JSON.stringify(String.fromCharCode(unit));
  for (let index = 1; index < escaped.length - 1; index++) bytes[at++] = escaped.charCodeAt(index);
  return at;
}
