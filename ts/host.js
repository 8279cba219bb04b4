import { addon as loadAddon } from "./addon.js";
import { checkFree, hold } from "./data-dirs.js";
import { toFileError, unwrap } from "./errors.js";
import { EventSink } from "./events.js";
import { Gate } from "./gate.js";
import { hostOptions } from "./host-options.js";
import { Sessions } from "./sessions.js";
export function localHost(options) {
    try {
        return open(options);
    }
    catch (error) {
        throw toFileError(error);
    }
}
function open(options) {
    const { native, onEvent } = hostOptions(options);
    const addon = loadAddon();
    checkFree(native.dataDir, addon);
    const host = unwrap(addon.NativeHost.open(native));
    return new Host(host, addon, new EventSink(onEvent), release(host, addon));
}
/** The folder may have been another copy's since it was asked for. */
function release(host, addon) {
    try {
        return hold(host.identity, addon);
    }
    catch (error) {
        void host.close();
        throw error;
    }
}
class Host {
    sessions;
    #native;
    #gate = new Gate("host");
    #closeSessions;
    #release;
    #closing;
    constructor(native, addon, sink, release) {
        const sessions = new Sessions(native, addon, this.#gate, sink);
        this.sessions = sessions;
        this.#native = native;
        this.#closeSessions = () => sessions.closeAll();
        this.#release = release;
        // What opening had to tell comes when the caller has its host.
        queueMicrotask(() => sink.deliverAll(native.takeEvents()));
    }
    close() {
        return (this.#closing ??= this.#close());
    }
    async #close() {
        await this.#gate.close();
        await this.#closeSessions();
        try {
            unwrap(await this.#native.close());
        }
        finally {
            this.#release();
        }
    }
    [Symbol.asyncDispose]() {
        return this.close();
    }
}
