// Joins the chunks of a stream or iterable into batches, whatever their kind and size.
import { HarnessFileError, describe } from "../errors.js";
import type { Batch } from "./batch.js";
import { asBytes } from "./bytes.js";
import { TextFeed, isHighSurrogate } from "./text-feed.js";

export class ChunkFeed {
  readonly #strings: boolean;
  #taken = 0;
  #text: TextFeed | undefined;
  #bytes: Uint8Array | undefined;
  #at = 0;
  /** The first half of a surrogate pair whose second half may start the next chunk. */
  #half = "";

  /** `strings`: whether a chunk may be one. */
  constructor(strings: boolean) {
    this.#strings = strings;
  }

  /** Takes the next chunk, once the one before is in. */
  take(chunk: unknown): void {
    this.#taken++;
    if (typeof chunk === "string" && this.#strings) {
      const text = this.#half + chunk;
      const cut = text !== "" && isHighSurrogate(text, text.length - 1) ? text.length - 1 : text.length;
      this.#half = text.slice(cut);
      this.#text = new TextFeed(text.slice(0, cut));
      return;
    }
    const bytes = asBytes(chunk);
    if (bytes === undefined) throw this.#refusal(chunk);
    this.end();
    this.#bytes = bytes;
    this.#at = 0;
  }

  /** No string follows: a half pair that waits for its second half is a lone surrogate. True when there was one. */
  end(): boolean {
    if (this.#half === "") return false;
    this.#text = new TextFeed(this.#half);
    this.#half = "";
    return true;
  }

  /** Moves what was taken into the batch; true when all of it is in. */
  into(batch: Batch): boolean {
    if (this.#text !== undefined) {
      if (!this.#text.into(batch)) return false;
      this.#text = undefined;
    }
    if (this.#bytes !== undefined) {
      this.#at += batch.append(this.#bytes, this.#at);
      if (this.#at < this.#bytes.byteLength) return false;
      this.#bytes = undefined;
    }
    return true;
  }

  #refusal(chunk: unknown): HarnessFileError {
    const accepted = this.#strings ? "bytes or a string" : "bytes";
    return new HarnessFileError(
      "FS_INVALID_CONTENT",
      `Chunk ${this.#taken} of the content is ${describe(chunk)}, not ${accepted}`,
    );
  }
}
