// Brings events, which the addon composes and queues as JSON text, to those who listen.
import { channel } from "node:diagnostics_channel";
import { nextTurn } from "./pace.js";
/** At once, before a call settles; more come in later turns of the loop. */
const EVENTS_PER_TURN = 256;
const fileChannel = channel("little-harness:file");
export class EventSink {
    #onEvent;
    #warned = false;
    constructor(onEvent) {
        this.#onEvent = onEvent;
    }
    /** Whether anybody listens. */
    get wanted() {
        return this.#onEvent !== undefined || fileChannel.hasSubscribers;
    }
    #deliver(text) {
        const event = JSON.parse(text);
        if (this.#onEvent !== undefined) {
            try {
                const result = this.#onEvent(event);
                // An async function may have been given; its failure is the sink's too.
                if (result instanceof Promise)
                    result.catch((error) => this.#warn(error));
            }
            catch (error) {
                this.#warn(error);
            }
        }
        if (fileChannel.hasSubscribers)
            fileChannel.publish(event);
    }
    deliverAll(texts) {
        if (!this.wanted)
            return;
        for (const text of texts)
            this.#deliver(text);
    }
    #warn(error) {
        if (this.#warned)
            return;
        this.#warned = true;
        process.emitWarning(`onEvent failed: ${String(error)}`, { code: "LITTLE_FILES_ON_EVENT" });
    }
}
/** The events of one session handle, in order. */
export class SessionEvents {
    #native;
    #sink;
    #rest;
    constructor(native, sink) {
        this.#native = native;
        this.#sink = sink;
    }
    drain() {
        if (this.#rest !== undefined)
            return; // what came before goes first
        if (!this.#sink.wanted)
            this.#native.dropEvents();
        else if (this.#deliver())
            this.#rest = this.#later();
    }
    /** True when more may be waiting. */
    #deliver() {
        const texts = this.#native.takeEvents(EVENTS_PER_TURN);
        this.#sink.deliverAll(texts);
        return texts.length === EVENTS_PER_TURN;
    }
    async #later() {
        try {
            do
                await nextTurn();
            while (this.#deliver());
        }
        finally {
            this.#rest = undefined;
        }
    }
    /** When it resolves, all events so far have been delivered. */
    async settle() {
        this.drain();
        await this.#rest;
    }
}
