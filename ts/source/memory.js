// Sources that are in memory already: large strings and large buffers, sent in slices.
import { ignore } from "../cancellation.js";
import { TextFeed } from "./text-feed.js";
export class TextSource {
    #feed;
    cancel = ignore;
    constructor(text) {
        this.#feed = new TextFeed(text);
    }
    fill(batch) {
        return this.#feed.into(batch) ? "end" : "full";
    }
}
/** Copied into the batches, not sent as it is: what is hashed must be what is written, whatever the owner does meanwhile. */
export class BytesSource {
    #bytes;
    cancel = ignore;
    #at = 0;
    constructor(bytes) {
        this.#bytes = bytes;
    }
    fill(batch) {
        this.#at += batch.append(this.#bytes, this.#at);
        return this.#at === this.#bytes.byteLength ? "end" : "full";
    }
}
