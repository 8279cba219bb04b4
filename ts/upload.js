// Moves a source into the addon: one batch is filled while the other is being written.
import { ignore, settled } from "./cancellation.js";
import { toFileError } from "./errors.js";
import { Pace } from "./pace.js";
import { Batch } from "./source/batch.js";
/** Publishes all of the source, or leaves nothing behind and cancels the source. */
export async function upload(source, write, cancellation) {
    const pump = new Pump(source, write, cancellation);
    try {
        const written = pump.run();
        // A source that never yields cannot be waited for once the signal is aborted.
        return await (cancellation === undefined ? written : Promise.race([written, cancellation.aborted]));
    }
    catch (error) {
        const failure = toFileError(error);
        await source.cancel(failure);
        await pump.stop();
        throw failure;
    }
}
class Pump {
    #source;
    #write;
    #cancellation;
    #pace = new Pace();
    #inFlight;
    #stopped = false;
    constructor(source, write, cancellation) {
        this.#source = source;
        this.#write = write;
        this.#cancellation = cancellation;
    }
    async run() {
        let batch = new Batch();
        let other;
        for (;;) {
            const filled = this.#source.fill(batch, this.#pace);
            const state = typeof filled === "string" ? filled : await filled;
            this.#check();
            if (state === "end")
                break;
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
    async #arrival() {
        if (this.#inFlight === undefined)
            return;
        settled(await this.#inFlight, this.#cancellation);
        this.#check();
    }
    /** A pump that was given up may still wake up, and must then touch nothing. */
    #check() {
        if (this.#stopped)
            throw new Error("stopped");
        this.#cancellation?.check();
    }
    /** Drops what was staged, once the batch in flight is out of the way: nothing is left when the write has failed. */
    async stop() {
        this.#stopped = true;
        await this.#inFlight?.catch(ignore);
        this.#write.abort();
    }
}
