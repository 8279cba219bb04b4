import { ignore } from "../cancellation.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";
export class ReaderSource {
    #reader;
    #feed = new ChunkFeed(true);
    /** Ended or failed by itself: there is nothing to cancel. */
    #over = false;
    constructor(reader) {
        this.#reader = reader;
    }
    async fill(batch, pace) {
        while (this.#feed.into(batch)) {
            if (this.#over) {
                if (!this.#feed.end())
                    return "end";
            }
            else if (pace.due()) {
                return "pause";
            }
            else {
                await this.#pull();
            }
        }
        return "full";
    }
    async #pull() {
        let done;
        let value;
        try {
            ({ done, value } = await this.#reader.read());
        }
        catch (error) {
            this.#finish();
            throw sourceFailed(error);
        }
        if (done)
            this.#finish();
        else
            this.#feed.take(value);
    }
    #finish() {
        this.#over = true;
        this.#release();
    }
    #release() {
        try {
            this.#reader.releaseLock();
        }
        catch {
            // A foreign reader that will not let go is its owner's affair.
        }
    }
    /** Not awaited: what the source still does to wind up does not hold the write. */
    cancel(reason) {
        if (this.#over)
            return;
        try {
            this.#reader.cancel(reason).catch(ignore);
        }
        catch {
            // It is over either way.
        }
        this.#finish();
    }
}
