// A long string as JSON text, quoted slice by slice.
import type { Batch } from "../source/batch.js";
import { TextFeed, sliceEnd } from "../source/text-feed.js";

const SLICE = 16 * 1024;

export class QuotedFeed {
  readonly #text: string;
  #at = 0;
  #slice: TextFeed | undefined = new TextFeed('"');
  #closed = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Writes what fits; true when all of it is in. */
  into(batch: Batch): boolean {
    while (this.#slice !== undefined) {
      if (!this.#slice.into(batch)) return false;
      this.#slice = this.#next();
    }
    return true;
  }

  #next(): TextFeed | undefined {
    if (this.#at < this.#text.length) {
      // Pairs stay together: each half alone would be written as an escape.
      const end = sliceEnd(this.#text, this.#at + SLICE);
      const quoted = JSON.stringify(this.#text.slice(this.#at, end));
      this.#at = end;
      return new TextFeed(quoted.slice(1, -1));
    }
    if (this.#closed) return undefined;
    this.#closed = true;
    return new TextFeed('"');
  }
}
