// Sources that are watched: how often they are asked for a chunk, and told that nobody reads on.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { bytes } from "./sources.mjs";

/** Each gives { content, told, pulls }: `next(at)` gives chunk `at`, undefined for the end, or throws. `told` counts cancels. */
export const watched = {
  "web stream": (next) => {
    const seen = { told: 0, pulls: 0 };
    const pull = async (controller) => {
      const given = await next(seen.pulls++);
      if (given === undefined) controller.close();
      else controller.enqueue(given);
    };
    const content = new ReadableStream(
      {
        pull,
        cancel: () => {
          seen.told++;
        },
      },
      { highWaterMark: 0 },
    );
    return Object.assign(seen, { content });
  },
  "web byte stream": (next) => {
    const seen = { told: 0, pulls: 0 };
    const pull = async (controller) => {
      const given = await next(seen.pulls++);
      if (given === undefined) controller.close();
      else controller.enqueue(given);
    };
    return Object.assign(seen, {
      content: new ReadableStream({
        type: "bytes",
        pull,
        cancel: () => {
          seen.told++;
        },
      }),
    });
  },
  Readable: (next) => {
    const seen = { told: 0, pulls: 0, stream: true };
    seen.content = new Readable({
      objectMode: true,
      highWaterMark: 1,
      read() {
        (async () => next(seen.pulls++))().then(
          (given) => this.push(given ?? null),
          (error) => this.destroy(error),
        );
      },
      destroy(error, done) {
        if (!error && !this.readableEnded) seen.told++;
        done(error);
      },
    });
    return seen;
  },
  "async iterator": (next) => {
    const seen = { told: 0, pulls: 0 };
    const iterator = {
      next: async () => {
        const value = await next(seen.pulls++);
        return { done: value === undefined, value };
      },
      return: async () => {
        seen.told++;
        return { done: true };
      },
    };
    return Object.assign(seen, { content: { [Symbol.asyncIterator]: () => iterator } });
  },
  "async generator": (next) => {
    const seen = { told: 0, pulls: 0 };
    seen.content = (async function* generate() {
      let over = false;
      try {
        for (;;) {
          let given;
          try {
            given = await next(seen.pulls++);
          } catch (error) {
            over = true;
            throw error;
          }
          if (given === undefined) {
            over = true;
            return;
          }
          yield given;
        }
      } finally {
        if (!over) seen.told++;
      }
    })();
    return seen;
  },
  "sync iterator": (next) => {
    const seen = { told: 0, pulls: 0 };
    const iterator = {
      next: () => {
        const value = next(seen.pulls++);
        return { done: value === undefined, value };
      },
      return: () => {
        seen.told++;
        return { done: true };
      },
    };
    return Object.assign(seen, { content: { [Symbol.iterator]: () => iterator } });
  },
  "reader of another make": (next) => {
    const seen = { told: 0, pulls: 0, released: 0 };
    const reader = {
      read: async () => {
        const value = await next(seen.pulls++);
        return { done: value === undefined, value };
      },
      cancel: async () => {
        seen.told++;
        throw new Error("cancel fails");
      },
      releaseLock: () => {
        seen.released++;
      },
    };
    return Object.assign(seen, { content: { getReader: () => reader } });
  },
};
export const asynchronous = Object.entries(watched).filter(([kind]) => kind !== "sync iterator");
export const LENGTH = 300_000;
/** A new one each time: byte streams take the buffer away. */
export const chunk = () => bytes(LENGTH);

export function assertNoListeners(stream) {
  for (const event of ["readable", "end", "data", "close"]) assert.equal(stream.listenerCount(event), 0, event);
  assert.equal(stream.listenerCount("error"), 0, "error");
}
