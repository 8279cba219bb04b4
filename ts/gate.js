// Counts the calls that run on a handle: closing waits for them, and what comes after is FS_CLOSED.
import { HarnessFileError } from "./errors.js";
export class Gate {
    #what;
    #running = 0;
    #closed = false;
    #whenIdle = [];
    constructor(what) {
        this.#what = what;
    }
    get closed() {
        return this.#closed;
    }
    check() {
        if (this.#closed)
            throw new HarnessFileError("FS_CLOSED", `The ${this.#what} is closed. Open it again.`);
    }
    enter() {
        this.check();
        this.#running++;
    }
    leave() {
        this.#running--;
        if (this.#running > 0)
            return;
        for (const resolve of this.#whenIdle.splice(0))
            resolve();
    }
    /** Refuses newcomers at once; resolves when nothing runs any more. */
    async close() {
        this.#closed = true;
        if (this.#running > 0)
            await new Promise((resolve) => this.#whenIdle.push(resolve));
    }
}
