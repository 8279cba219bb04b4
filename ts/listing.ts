// Drains a native listing. Each `next` ends in a turn of the loop of its own, so a long listing does not hold it.
import { type Cancellation, settled } from "./cancellation.js";
import type { NativeEntry, NativeListing } from "./native.js";

export async function drain<T>(
  listing: NativeListing,
  map: (entry: NativeEntry) => T,
  cancellation?: Cancellation,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    for (const entry of listing.take()) all.push(map(entry));
    if (listing.done) return all;
    settled(await listing.next(), cancellation);
  }
}
