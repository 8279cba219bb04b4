// Iterables, asynchronous and synchronous.
import { ignore } from "../cancellation.js";
import type { HarnessFileError } from "../errors.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";

export class AsyncIteratorSource implements Source {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #feed = new ChunkFeed(true);
  /** Ended or failed by itself: there is nothing to return. */
  #over = false;
  #pulling = false;

  constructor(iterator: AsyncIterator<unknown>) {
    this.#iterator = iterator;
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
    let done: boolean | undefined;
    let value: unknown;
    this.#pulling = true;
    try {
      ({ done, value } = await this.#iterator.next());
    } catch (error) {
      this.#over = true;
      throw sourceFailed(error);
    }
    this.#pulling = false;
    if (done === true) this.#over = true;
    else this.#feed.take(value);
  }

  /** As `for await` does it. While a `next` is under way a generator would answer only after it, so maybe never. */
  async cancel(reason: HarnessFileError): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    try {
      const returned = Promise.resolve(this.#iterator.return?.());
      if (this.#pulling || reason.code === "FS_ABORTED") returned.catch(ignore);
      else await returned;
    } catch {
      // The error that ended the write is the one to tell.
    }
  }
}

export class IteratorSource implements Source {
  readonly #iterator: Iterator<unknown>;
  readonly #feed = new ChunkFeed(false);
  #over = false;

  constructor(iterator: Iterator<unknown>) {
    this.#iterator = iterator;
  }

  fill(batch: Batch, pace: Pace): Filled {
    while (this.#feed.into(batch)) {
      if (this.#over) return "end";
      if (pace.due()) return "pause";
      this.#pull();
    }
    return "full";
  }

  #pull(): void {
    let done: boolean | undefined;
    let value: unknown;
    try {
      ({ done, value } = this.#iterator.next());
    } catch (error) {
      this.#over = true;
      throw sourceFailed(error);
    }
    if (done === true) this.#over = true;
    else this.#feed.take(value);
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    try {
      this.#iterator.return?.();
    } catch {
      // The error that ended the write is the one to tell.
    }
  }
}
