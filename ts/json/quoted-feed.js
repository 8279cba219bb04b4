import { TextFeed, sliceEnd } from "../source/text-feed.js";
const SLICE = 16 * 1024;
export class QuotedFeed {
    #text;
    #at = 0;
    #slice = new TextFeed('"');
    #closed = false;
    constructor(text) {
        this.#text = text;
    }
    /** Writes what fits; true when all of it is in. */
    into(batch) {
        while (this.#slice !== undefined) {
            if (!this.#slice.into(batch))
                return false;
            this.#slice = this.#next();
        }
        return true;
    }
    #next() {
        if (this.#at < this.#text.length) {
            // Pairs stay together: each half alone would be written as an escape.
            const end = sliceEnd(this.#text, this.#at + SLICE);
            const quoted = JSON.stringify(this.#text.slice(this.#at, end));
            this.#at = end;
            return new TextFeed(quoted.slice(1, -1));
        }
        if (this.#closed)
            return undefined;
        this.#closed = true;
        return new TextFeed('"');
    }
}
