// One call at a time for each session in this process, in order of arrival. Between processes a lock of the addon does it.
import { type Cancellation, ignore } from "../cancellation.js";

/** Settles when the last call that was let in has ended. */
const tails = new Map<string, Promise<void>>();

export async function inTurn<T>(
  key: string,
  cancellation: Cancellation | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve();
  let end: () => void = ignore;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // One that gives up waiting does not let the next one pass the one before.
  const tail = before.then(() => ended);
  tails.set(key, tail);
  void tail.then(() => tails.get(key) === tail && tails.delete(key));
  try {
    await (cancellation === undefined ? before : Promise.race([before, cancellation.aborted]));
    return await work();
  } finally {
    end();
  }
}
