import { Cancellation } from "./cancellation.js";
import { located, toFailure, toFileError } from "./errors.js";
/** Refusals, which are events; other failures are not. */
const REFUSALS = new Set([
    "FS_INVALID_PATH",
    "FS_INVALID_OPTION",
    "FS_INVALID_CONTENT",
    "FS_SANDBOX_DENIED",
    "FS_PERMISSION_DENIED",
    "FS_QUOTA_EXCEEDED",
    "FS_STALE_VERSION",
    "FS_ALREADY_EXISTS",
]);
export class SessionCore {
    native;
    gate;
    #addon;
    #events;
    constructor(native, addon, gate, events) {
        this.native = native;
        this.gate = gate;
        this.#addon = addon;
        this.#events = events;
    }
    /**
     * Runs a call. `work` begins in the same tick. Whatever it throws comes out coded and with its path, refusals are told,
     * and events of the call are delivered before it settles.
     */
    async perform(operation, work) {
        this.gate.enter();
        try {
            return await work();
        }
        catch (error) {
            const failure = located(toFileError(error), operation.path);
            if (REFUSALS.has(failure.code)) {
                await this.native.refused(operation.name, toFailure(failure), operation.source?.());
            }
            throw failure;
        }
        finally {
            this.#events.drain();
            this.gate.leave();
        }
    }
    /** Throws FS_ABORTED when the signal is aborted already. */
    cancellation(signal) {
        return signal === undefined ? undefined : new Cancellation(signal, new this.#addon.NativeCancel());
    }
    /** Runs `work` under the signal, if there is one; its listener is gone afterwards. */
    async cancellable(signal, work) {
        const cancellation = this.cancellation(signal);
        try {
            return await work(cancellation);
        }
        finally {
            cancellation?.dispose();
        }
    }
}
