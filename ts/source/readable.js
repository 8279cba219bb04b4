import { ignore } from "../cancellation.js";
import { ChunkFeed } from "./chunk-feed.js";
import { sourceFailed } from "./failure.js";
export class ReadableSource {
    #stream;
    #feed = new ChunkFeed(true);
    #listening = false;
    #ended = false;
    #failure;
    #wake = ignore;
    constructor(stream) {
        this.#stream = stream;
    }
    async fill(batch, pace) {
        this.#listen();
        while (this.#feed.into(batch)) {
            if (this.#failure !== undefined)
                throw this.#failure;
            if (this.#ended) {
                if (!this.#feed.end())
                    return "end";
            }
            else if (pace.due()) {
                return "pause";
            }
            else {
                const chunk = this.#read();
                if (chunk === null)
                    await this.#news();
                else
                    this.#feed.take(chunk);
            }
        }
        return "full";
    }
    #read() {
        try {
            return this.#stream.read();
        }
        catch (error) {
            throw sourceFailed(error);
        }
    }
    /** Until there is something to read, or it is over. All of these events come in later ticks than `read`. */
    #news() {
        return new Promise((resolve) => {
            this.#wake = resolve;
        });
    }
    #listen() {
        if (this.#listening)
            return;
        this.#listening = true;
        this.#stream.on("readable", this.#onReadable).on("end", this.#onEnd);
        this.#stream.on("error", this.#onError).on("close", this.#onClose);
    }
    #unlisten() {
        this.#stream.off("readable", this.#onReadable).off("end", this.#onEnd);
        this.#stream.off("error", this.#onError).off("close", this.#onClose);
        hush(this.#stream);
    }
    #onReadable = () => this.#wake();
    #onEnd = () => {
        this.#ended = true;
        this.#unlisten();
        this.#wake();
    };
    #onError = (error) => {
        this.#failure = sourceFailed(error);
        this.#unlisten();
        this.#wake();
    };
    #onClose = () => this.#onError(new Error("The stream was closed before it ended"));
    cancel() {
        if (this.#ended)
            return;
        this.#unlisten();
        this.#stream.destroy();
    }
}
/** Until it is closed: an error that a stream still has to tell is nobody's any more and must not end the process. */
function hush(stream) {
    if (stream.closed)
        return;
    stream.on("error", ignore).once("close", () => stream.off("error", ignore));
}
