// Drains a native listing. Each `next` ends in a turn of the loop of its own, so a long listing does not hold it.
import { settled } from "./cancellation.js";
export async function drain(listing, map, cancellation) {
    const all = [];
    for (;;) {
        for (const entry of listing.take())
            all.push(map(entry));
        if (listing.done)
            return all;
        settled(await listing.next(), cancellation);
    }
}
