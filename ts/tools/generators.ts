// Tools that yield: each value but the last is preliminary, and which one is the last shows only at the end.

type Run = <R>(fn: () => R) => R;

/** What a call makes of its results. */
export interface Results {
  /** Runs code of the tool where its turn is found. */
  readonly inside: Run;
  /** What is passed on of a value that may be preliminary: the same, unless it could not be written out. */
  shown(value: unknown): Promise<unknown>;
  /** What the hooks make of the last value. */
  hooked(result: unknown): Promise<unknown>;
  /** What the model is to get for it. */
  offloaded(result: unknown): Promise<unknown>;
  bounded(error: unknown): unknown;
}

/** Passes on each value as it comes; what is to be seen in place of the last one is yielded after it. */
export async function* yielded(values: AsyncIterable<unknown>, results: Results): AsyncGenerator<unknown, void> {
  const { inside } = results;
  /** Whether the tool waits to go on, and has to be told when nobody wants more. */
  let waits = false;
  let last: unknown;
  let shown: unknown;
  try {
    const iterator = inside(() => values[Symbol.asyncIterator]());
    try {
      for (;;) {
        waits = false;
        const step = await inside(() => iterator.next());
        if (step.done === true) break;
        waits = true;
        last = step.value;
        shown = await results.shown(last);
        yield shown;
      }
    } finally {
      if (waits) await inside(() => iterator.return?.());
    }
    const result = await results.hooked(last);
    const seen = await results.offloaded(Object.is(result, last) ? shown : result);
    if (!Object.is(seen, shown)) yield seen;
  } catch (error) {
    throw results.bounded(error);
  }
}

/** The last value. */
export async function drained(values: AsyncIterable<unknown>, inside: Run): Promise<unknown> {
  const iterator = inside(() => values[Symbol.asyncIterator]());
  for (let last: unknown; ;) {
    const step = await inside(() => iterator.next());
    if (step.done === true) return last;
    last = step.value;
  }
}

/** The same object to look at, whose methods run where the turn of its tool is found. */
export function inContext<T extends object>(values: T, inside: Run): T {
  const proxy: T = new Proxy(values, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const given: unknown = inside((): unknown => Reflect.apply(value, target, args));
        if (given === target) return proxy;
        // The iterator of something that only can be iterated.
        return name === Symbol.asyncIterator && typeof given === "object" && given !== null
          ? inContext(given, inside)
          : given;
      };
    },
  });
  return proxy;
}
