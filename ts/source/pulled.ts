// What is asked for one chunk after the other, and answers with promises.
import type { HarnessFileError } from "../errors.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";

export abstract class PulledSource implements Source {
  readonly #feed = new ChunkFeed(true);
  /** Ended, failed by itself or cancelled: there is nothing to tell it any more. */
  #over = false;
  #pulling = false;

  protected abstract next(): Promise<{ done?: boolean | undefined; value?: unknown }>;

  /** It ended or failed by itself. */
  protected ended(): void {}

  /** `pulling`: a `next` is still under way. */
  protected abstract stop(reason: HarnessFileError, pulling: boolean): void | Promise<void>;

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
      ({ done, value } = await this.next());
    } catch (error) {
      this.#end();
      throw sourceFailed(error);
    }
    this.#pulling = false;
    if (done === true) this.#end();
    else this.#feed.take(value);
  }

  #end(): void {
    this.#over = true;
    this.ended();
  }

  cancel(reason: HarnessFileError): void | Promise<void> {
    if (this.#over) return;
    this.#over = true;
    return this.stop(reason, this.#pulling);
  }
}
