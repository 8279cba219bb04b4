// First come, first served for each key, in this process. Between processes a lock of the addon does it.
import { ignore } from "./cancellation.js";

/** A place in a queue. */
export interface Place {
  /** Resolves when those before are through. */
  readonly ready: Promise<void>;
  /** To be called once, also by who gives up while it waits. */
  leave(): void;
}

export class Queues {
  readonly #queues = new Map<string, { places: number; last: Promise<void> }>();

  /** Whether somebody has a place in the queue. */
  isBusy(key: string): boolean {
    return this.#queues.has(key);
  }

  join(key: string): Place {
    const queue = this.#queues.get(key) ?? { places: 0, last: Promise.resolve() };
    this.#queues.set(key, queue);
    const ready = queue.last;
    let left: () => void = ignore;
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    // One that gives up waiting does not let the next one pass the one before.
    queue.last = ready.then(() => gone);
    queue.places++;
    return {
      ready,
      leave: () => {
        left();
        if (--queue.places === 0) this.#queues.delete(key);
      },
    };
  }
}
