// Iterables, asynchronous and synchronous.
import { ignore } from "../cancellation.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";
export class AsyncIteratorSource {
    #iterator;
    #feed = new ChunkFeed(true);
    /** Ended or failed by itself: there is nothing to return. */
    #over = false;
    #pulling = false;
    constructor(iterator) {
        this.#iterator = iterator;
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
        this.#pulling = true;
        try {
            ({ done, value } = await this.#iterator.next());
        }
        catch (error) {
            this.#over = true;
            throw sourceFailed(error);
        }
        this.#pulling = false;
        if (done === true)
            this.#over = true;
        else
            this.#feed.take(value);
    }
    /** As `for await` does it. While a `next` is under way a generator would answer only after it, so maybe never. */
    async cancel(reason) {
        if (this.#over)
            return;
        this.#over = true;
        try {
            const returned = Promise.resolve(this.#iterator.return?.());
            if (this.#pulling || reason.code === "FS_ABORTED")
                returned.catch(ignore);
            else
                await returned;
        }
        catch {
            // The error that ended the write is the one to tell.
        }
    }
}
export class IteratorSource {
    #iterator;
    #feed = new ChunkFeed(false);
    #over = false;
    constructor(iterator) {
        this.#iterator = iterator;
    }
    fill(batch, pace) {
        while (this.#feed.into(batch)) {
            if (this.#over)
                return "end";
            if (pace.due())
                return "pause";
            this.#pull();
        }
        return "full";
    }
    #pull() {
        let done;
        let value;
        try {
            ({ done, value } = this.#iterator.next());
        }
        catch (error) {
            this.#over = true;
            throw sourceFailed(error);
        }
        if (done === true)
            this.#over = true;
        else
            this.#feed.take(value);
    }
    cancel() {
        if (this.#over)
            return;
        this.#over = true;
        try {
            this.#iterator.return?.();
        }
        catch {
            // The error that ended the write is the one to tell.
        }
    }
}
