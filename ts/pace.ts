// Keeps long synchronous work from holding the event loop: after a few milliseconds it waits for a turn.

const SLICE_MS = 4;
/** Looking at the clock costs as much as a small chunk. */
const CALLS_PER_LOOK = 16;

const waiting: Array<() => void> = [];

/**
 * Resolves in a later turn of the loop. Only one waiter goes on in each turn, so that many long calls together hold the
 * loop no longer than one of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeOne);
}

/** The time slices of one call. */
export class Pace {
  #until = performance.now() + SLICE_MS;
  #calls = 0;

  /** Whether the slice is used up. */
  due(): boolean {
    this.#calls = (this.#calls + 1) % CALLS_PER_LOOK;
    return this.#calls === 0 && this.dueNow();
  }

  /** The same, for work that asks seldom. */
  dueNow(): boolean {
    return performance.now() >= this.#until;
  }

  async turn(): Promise<void> {
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}

/** `map` over many items, in slices. */
export async function mapped<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const all: R[] = [];
  const pace = new Pace();
  for (const item of items) {
    all.push(map(item));
    if (pace.due()) await pace.turn();
  }
  return all;
}

/** What the addon gives in pages, each given the number of items before it, until one is empty. */
export async function allPages<T>(page: (from: number) => readonly T[]): Promise<T[]> {
  const all: T[] = [];
  const pace = new Pace();
  for (let items = page(0); items.length > 0; items = page(all.length)) {
    all.push(...items);
    if (pace.dueNow()) await pace.turn();
  }
  return all;
}
