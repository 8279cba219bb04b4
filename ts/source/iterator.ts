// Iterables, asynchronous and synchronous.
import { ignore } from "../cancellation.js";
import type { HarnessFileError } from "../errors.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";
import { PulledSource } from "./pulled.js";

export class AsyncIteratorSource extends PulledSource {
  readonly #iterator: AsyncIterator<unknown>;

  constructor(iterator: AsyncIterator<unknown>) {
    super();
    this.#iterator = iterator;
  }

  protected next(): Promise<IteratorResult<unknown, unknown>> {
    return this.#iterator.next();
  }

  /** As `for await` does it. While a `next` is under way a generator would answer only after it, so maybe never. */
  protected async stop(reason: HarnessFileError, pulling: boolean): Promise<void> {
    try {
      const returned = Promise.resolve(this.#iterator.return?.());
      if (pulling || reason.code === "FS_ABORTED") returned.catch(ignore);
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
