import { artifacts } from "./artifacts.js";
import { unwrap } from "./errors.js";
import { SessionEvents } from "./events.js";
import { sessionInfo } from "./facts.js";
import { fileWriter } from "./file-writer.js";
import { Gate } from "./gate.js";
import { SessionCore } from "./session-core.js";
export class Session {
    id;
    files;
    artifacts;
    #core;
    #events;
    #onClosed;
    #closing;
    constructor(native, addon, sink, onClosed) {
        this.id = native.id;
        this.#events = new SessionEvents(native, sink);
        this.#core = new SessionCore(native, addon, new Gate("session"), this.#events);
        this.files = fileWriter(this.#core, { source: "app-context", origin: "host" });
        this.artifacts = artifacts(this.#core, this.files);
        this.#onClosed = onClosed;
    }
    status() {
        return this.#core.perform({ name: "status", path: undefined }, async () => sessionInfo(unwrap(await this.#core.native.status())));
    }
    flush() {
        return this.#core.perform({ name: "flush", path: undefined }, async () => {
            unwrap(await this.#core.native.flush());
        });
    }
    hostPaths() {
        this.#core.gate.check();
        const { session, artifacts: artifactsDir } = this.#core.native.hostPaths();
        return { session, artifacts: artifactsDir, persistent: {} };
    }
    close() {
        return (this.#closing ??= this.#close());
    }
    async #close() {
        await this.#core.gate.close();
        await this.#events.settle();
        this.#core.native.close();
        this.#onClosed(this);
    }
    [Symbol.asyncDispose]() {
        return this.close();
    }
}
