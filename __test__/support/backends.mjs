// Runs the same test on both ways to resolve a path: the kernel's (openat2) and the component walk that stands in for it.
import { test } from "node:test";
import { withHost } from "./host.mjs";

export const backends = [
  { name: "default", resolver: undefined },
  { name: "walk", resolver: "walk" },
];

/** `onBackends("title", hostOptions?, async (t, h) => …)`: `h` is what `withHost` gives, with `resolver` beside it. */
export function onBackends(title, options, body = options) {
  const { timeout = 60_000, skip, ...hostOptions } = typeof options === "function" ? {} : options;
  for (const { name, resolver } of backends) {
    test(`${title} [${name}]`, { timeout, skip }, async (t) => {
      const h = await withHost(t, { ...hostOptions, resolver });
      await body(t, { ...h, resolver });
    });
  }
}
