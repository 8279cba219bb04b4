// Brings events, which the addon composes and queues as JSON text, to those who listen.
import { channel } from "node:diagnostics_channel";
import type { HarnessTraceEvent } from "../index.js";
import type { NativeSession } from "./native.js";
import { nextTurn } from "./pace.js";

/** At once, before a call settles; more come in later turns of the loop. */
const EVENTS_PER_TURN = 256;

const fileChannel = channel("little-harness:file");

export class EventSink {
  readonly #onEvent: ((event: HarnessTraceEvent) => unknown) | undefined;
  #warned = false;

  constructor(onEvent: ((event: HarnessTraceEvent) => unknown) | undefined) {
    this.#onEvent = onEvent;
  }

  /** Whether anybody listens. */
  get wanted(): boolean {
    return this.#onEvent !== undefined || fileChannel.hasSubscribers;
  }

  deliver(event: HarnessTraceEvent): void {
    if (this.#onEvent !== undefined) {
      try {
        const result = this.#onEvent(event);
        // An async function may have been given; its failure is the sink's too.
        if (result instanceof Promise) result.catch((error: unknown) => this.#warn(error));
      } catch (error) {
        this.#warn(error);
      }
    }
    if (fileChannel.hasSubscribers) fileChannel.publish(event);
  }

  deliverAll(texts: readonly string[]): void {
    if (!this.wanted) return;
    for (const text of texts) this.deliver(parse(text));
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning(`onEvent failed: ${String(error)}`, { code: "LITTLE_FILES_ON_EVENT" });
  }
}

function parse(text: string): HarnessTraceEvent {
  return JSON.parse(text) as HarnessTraceEvent;
}

/** The events of one session handle, in order. */
export class SessionEvents {
  readonly #native: NativeSession;
  readonly #sink: EventSink;
  #watcher: ((event: HarnessTraceEvent) => void) | undefined;
  #rest: Promise<void> | undefined;

  constructor(native: NativeSession, sink: EventSink) {
    this.#native = native;
    this.#sink = sink;
  }

  /** Sees every event before the listeners do, whether there are any or not; there is one at a time. */
  watch(watcher: ((event: HarnessTraceEvent) => void) | undefined): void {
    this.#watcher = watcher;
  }

  drain(): void {
    if (this.#rest !== undefined) return; // what came before goes first
    if (!this.#sink.wanted && this.#watcher === undefined) this.#native.dropEvents();
    else if (this.#deliver()) this.#rest = this.#later();
  }

  /** True when more may be waiting. */
  #deliver(): boolean {
    const texts = this.#native.takeEvents(EVENTS_PER_TURN);
    for (const text of texts) {
      const event = parse(text);
      this.#watcher?.(event);
      this.#sink.deliver(event);
    }
    return texts.length === EVENTS_PER_TURN;
  }

  async #later(): Promise<void> {
    try {
      do await nextTurn();
      while (this.#deliver());
    } finally {
      this.#rest = undefined;
    }
  }

  /** When it resolves, all events so far have been delivered. */
  async settle(): Promise<void> {
    this.drain();
    await this.#rest;
  }
}
