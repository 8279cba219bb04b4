// A WHATWG stream: the DOM's, node:stream/web's, or anything with such a reader.
import type { ByteStream } from "../../index.js";
import { ignore } from "../cancellation.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";

type Reader = ReturnType<ByteStream["getReader"]>;

export class ReaderSource implements Source {
  readonly #reader: Reader;
  readonly #feed = new ChunkFeed(true);
  /** Ended or failed by itself: there is nothing to cancel. */
  #over = false;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async fill(batch: Batch, pace: Pace): Promise<Filled> {
    while (this.#feed.into(batch)) {
      if (this.#over) {
        if (!this.#feed.end()) return "end";
      } else if (pace.due()) {
        return "pause";
      } else {
        await this.#pull();
      }
    }
    return "full";
  }

  async #pull(): Promise<void> {
    let done: boolean;
    let value: unknown;
    try {
      ({ done, value } = await this.#reader.read());
    } catch (error) {
      this.#finish();
      throw sourceFailed(error);
    }
    if (done) this.#finish();
    else this.#feed.take(value);
  }

  #finish(): void {
    this.#over = true;
    this.#release();
  }

  #release(): void {
    try {
      this.#reader.releaseLock();
    } catch {
      // A foreign reader that will not let go is its owner's affair.
    }
  }

  /** Not awaited: what the source still does to wind up does not hold the write. */
  cancel(reason: unknown): void {
    if (this.#over) return;
    try {
      this.#reader.cancel(reason).catch(ignore);
    } catch {
      // It is over either way.
    }
    this.#finish();
  }
}
