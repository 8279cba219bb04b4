// Sources that are in memory already: large strings and large buffers, sent in slices.
import { ignore } from "../cancellation.js";
import type { Batch, Filled, Source } from "./batch.js";
import { TextFeed } from "./text-feed.js";

export class TextSource implements Source {
  readonly #feed: TextFeed;
  readonly cancel = ignore;

  constructor(text: string) {
    this.#feed = new TextFeed(text);
  }

  fill(batch: Batch): Filled {
    return this.#feed.into(batch) ? "end" : "full";
  }
}

/** Copied into the batches, not sent as it is: what is hashed must be what is written, whatever the owner does meanwhile. */
export class BytesSource implements Source {
  readonly #bytes: Uint8Array;
  readonly cancel = ignore;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  fill(batch: Batch): Filled {
    this.#at += batch.append(this.#bytes, this.#at);
    return this.#at === this.#bytes.byteLength ? "end" : "full";
  }
}
