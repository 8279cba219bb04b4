// First come, first served: the turns of one session in this process, whichever handle or host begins them.

const queues = new Map<string, TurnQueue>();

/** A place in the queue. */
export interface Place {
  /** Resolves when those before are through. */
  readonly ready: Promise<void>;
  /** To be called once, also by who gives up while it waits. */
  leave(): void;
}

export class TurnQueue {
  readonly #key: string;
  #places = 0;
  #running = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(key: string) {
    this.#key = key;
  }

  /** The key names the session among all of this process. */
  static of(key: string): TurnQueue {
    return queues.get(key) ?? new TurnQueue(key);
  }

  /** Whether somebody runs a turn or waits for one. */
  static isBusy(key: string): boolean {
    return queues.has(key);
  }

  static isRunning(key: string): boolean {
    const queue = queues.get(key);
    return queue !== undefined && queue.#running > 0;
  }

  join(): Place {
    queues.set(this.#key, this);
    this.#places++;
    const before = this.#last;
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#last = before.then(() => left);
    return {
      ready: before,
      leave: () => {
        leave();
        if (--this.#places === 0) queues.delete(this.#key);
      },
    };
  }

  /** A turn runs, until what this gives is called. */
  run(): () => void {
    this.#running++;
    return () => {
      this.#running--;
    };
  }
}
