// Ties a caller's AbortSignal to one call: natively by a NativeCancel, in JavaScript by a promise that rejects.
import { HarnessFileError, unwrap } from "./errors.js";
/** One listener a signal, however many calls it serves: more than ten would make Node warn of a leak. */
const listening = new WeakMap();
export class Cancellation {
    native;
    /** Rejects with FS_ABORTED, unless `seal` came first. */
    aborted;
    #signal;
    #reject = ignore;
    /** Throws FS_ABORTED when the signal is aborted already. */
    constructor(signal, native) {
        this.#signal = signal;
        this.native = native;
        this.check();
        this.aborted = new Promise((_, reject) => {
            this.#reject = reject;
        });
        this.aborted.catch(ignore);
        listen(signal, this);
    }
    check() {
        if (this.#signal.aborted)
            throw this.error();
    }
    /** From here on only native code can still end the call: publishing is not to be seen as undone. */
    seal() {
        this.check();
        this.#reject = ignore;
    }
    abort() {
        this.native.cancel();
        this.#reject(this.error());
    }
    dispose() {
        unlisten(this.#signal, this);
    }
    error() {
        return new HarnessFileError("FS_ABORTED", "The call was aborted by its signal", { cause: this.#signal.reason });
    }
}
/** The value of a native call; its FS_ABORTED gets the signal's reason. */
export function settled(result, cancellation) {
    try {
        return unwrap(result);
    }
    catch (error) {
        const aborted = error instanceof HarnessFileError && error.code === "FS_ABORTED";
        throw aborted && cancellation !== undefined ? cancellation.error() : error;
    }
}
export function ignore() { }
function listen(signal, cancellation) {
    const calls = listening.get(signal);
    if (calls !== undefined) {
        calls.add(cancellation);
        return;
    }
    listening.set(signal, new Set([cancellation]));
    signal.addEventListener("abort", onAbort);
}
function unlisten(signal, cancellation) {
    const calls = listening.get(signal);
    if (calls === undefined || !calls.delete(cancellation) || calls.size > 0)
        return;
    listening.delete(signal);
    signal.removeEventListener("abort", onAbort);
}
function onAbort() {
    for (const cancellation of [...(listening.get(this) ?? [])])
        cancellation.abort();
}
