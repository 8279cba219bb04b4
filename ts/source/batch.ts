// The private buffers in which bytes travel to the addon, and what fills them.
import type { HarnessFileError } from "../errors.js";
import type { Pace } from "../pace.js";

export const BATCH_BYTES = 1024 * 1024;

/** Not touched between `push` and its end: the addon reads it from another thread. */
export class Batch {
  readonly bytes: Uint8Array = Buffer.allocUnsafeSlow(BATCH_BYTES);
  length = 0;

  get room(): number {
    return BATCH_BYTES - this.length;
  }

  get filled(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** Copies what fits of `from`, starting at `at`; gives how many bytes that was. */
  append(from: Uint8Array, at: number): number {
    const size = Math.min(this.room, from.byteLength - at);
    this.bytes.set(size === from.byteLength ? from : from.subarray(at, at + size), this.length);
    this.length += size;
    return size;
  }
}

/** "full": the batch is to be sent; "pause": the event loop wants its turn; "end": there is no more. */
export type Filled = "full" | "pause" | "end";

export interface Source {
  /** Puts what comes next into the batch. Synchronous where the content is, so that it costs no promise. */
  fill(batch: Batch, pace: Pace): Filled | Promise<Filled>;
  /** Tells the source that nobody reads on. Called once, when the write failed for whatever reason. */
  cancel(reason: HarnessFileError): void | Promise<void>;
}
