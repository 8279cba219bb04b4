// A Node Readable, read by its own events rather than its async iterator, which leaves listeners behind.
import type { Readable } from "node:stream";
import { ignore } from "../cancellation.js";
import type { HarnessFileError } from "../errors.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";

export class ReadableSource implements Source {
  readonly #stream: Readable;
  readonly #feed = new ChunkFeed(true);
  #listening = false;
  #ended = false;
  #failure: HarnessFileError | undefined;
  #wake: () => void = ignore;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  async fill(batch: Batch, pace: Pace): Promise<Filled> {
    this.#listen();
    while (this.#feed.into(batch)) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) {
        if (!this.#feed.end()) return "end";
      } else if (pace.due()) {
        return "pause";
      } else {
        const chunk = this.#read();
        if (chunk === null) await this.#news();
        else this.#feed.take(chunk);
      }
    }
    return "full";
  }

  #read(): unknown {
    try {
      return this.#stream.read();
    } catch (error) {
      throw sourceFailed(error);
    }
  }

  /** Until there is something to read, or it is over. All of these events come in later ticks than `read`. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#stream.on("readable", this.#onReadable).on("end", this.#onEnd);
    this.#stream.on("error", this.#onError).on("close", this.#onClose);
  }

  #unlisten(): void {
    this.#stream.off("readable", this.#onReadable).off("end", this.#onEnd);
    this.#stream.off("error", this.#onError).off("close", this.#onClose);
    hush(this.#stream);
  }

  readonly #onReadable = (): void => this.#wake();

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#unlisten();
    this.#wake();
  };

  readonly #onError = (error: unknown): void => {
    this.#failure = sourceFailed(error);
    this.#unlisten();
    this.#wake();
  };

  readonly #onClose = (): void => this.#onError(new Error("The stream was closed before it ended"));

  cancel(): void {
    if (this.#ended) return;
    this.#unlisten();
    this.#stream.destroy();
  }
}

/** Until it is closed: an error that a stream still has to tell is nobody's any more and must not end the process. */
function hush(stream: Readable): void {
  if (stream.closed) return;
  stream.on("error", ignore).once("close", () => stream.off("error", ignore));
}
