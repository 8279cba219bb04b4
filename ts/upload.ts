// Moves a source into the addon: one batch is filled while the other is being written.
import { type Cancellation, ignore, settled } from "./cancellation.js";
import { toFileError } from "./errors.js";
import type { Failure } from "./native.js";
import { Pace } from "./pace.js";
import { Batch, type Filled, type Source } from "./source/batch.js";

/** What takes the batches natively: a write, or an offload. */
export interface Upload<T> {
  push(batch: Uint8Array): Promise<null | Failure>;
  finish(batch?: Uint8Array): Promise<T | Failure>;
  abort(): Promise<null> | void;
}

/** Publishes all of the source, or leaves nothing behind and cancels the source. */
export async function upload<T>(source: Source, write: Upload<T>, cancellation?: Cancellation): Promise<T> {
  const pump = new Pump(source, write, cancellation);
  try {
    const written = pump.run();
    // A source that never yields cannot be waited for once the signal is aborted.
    return await (cancellation === undefined ? written : Promise.race([written, cancellation.aborted]));
  } catch (error) {
    const failure = toFileError(error);
    await source.cancel(failure);
    await pump.stop();
    throw failure;
  }
}

class Pump<T> {
  readonly #source: Source;
  readonly #write: Upload<T>;
  readonly #cancellation: Cancellation | undefined;
  readonly #pace = new Pace();
  #inFlight: Promise<null | Failure> | undefined;
  #stopped = false;

  constructor(source: Source, write: Upload<T>, cancellation: Cancellation | undefined) {
    this.#source = source;
    this.#write = write;
    this.#cancellation = cancellation;
  }

  async run(): Promise<T> {
    let batch = new Batch();
    let other: Batch | undefined;
    for (;;) {
      const filled = this.#source.fill(batch, this.#pace);
      const state: Filled = typeof filled === "string" ? filled : await filled;
      this.#check();
      if (state === "end") break;
      if (state === "pause") {
        await this.#pace.turn();
        this.#check();
        continue;
      }
      await this.#arrival();
      this.#inFlight = this.#write.push(batch.filled);
      this.#inFlight.catch(ignore);
      // The batch before has arrived, so it is free again.
      [batch, other] = [other ?? new Batch(), batch];
      batch.length = 0;
    }
    await this.#arrival();
    this.#cancellation?.seal();
    const last = batch.length > 0 ? batch.filled : undefined;
    return settled(await this.#write.finish(last), this.#cancellation);
  }

  /** Of the batch in flight; one at a time. */
  async #arrival(): Promise<void> {
    if (this.#inFlight === undefined) return;
    settled(await this.#inFlight, this.#cancellation);
    this.#check();
  }

  /** A pump that was given up may still wake up, and must then touch nothing. */
  #check(): void {
    if (this.#stopped) throw new Error("stopped");
    this.#cancellation?.check();
  }

  /** Drops what was staged, once the batch in flight is out of the way: nothing is left when the write has failed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#inFlight?.catch(ignore);
    await this.#write.abort();
  }
}
