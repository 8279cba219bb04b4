// writeJSON at every depth and size, with timers firing all the while.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { withHost } from "./support/host.mjs";
import { NAME, nested } from "./support/json-text.mjs";

test("deeper than JSON.stringify itself can go, to 10,000 levels", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  const depth = 9999;
  const ref = await h.files.writeJSON(
    NAME,
    nested(depth, (inner) => [inner]),
  );
  const hash = createHash("sha256");
  for (let at = 0; at < depth; at++) hash.update(`[\n${"  ".repeat(at + 1)}`);
  hash.update('"bottom"');
  for (let at = depth - 1; at >= 0; at--) hash.update(`\n${"  ".repeat(at)}]`);
  assert.equal(ref.sha256, hash.digest("hex"));
});

/** Ticks of a timer while `work` runs, and the longest time between two. */
async function ticksDuring(work) {
  let count = 0;
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    count++;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  try {
    return { result: await work(), count, longest };
  } finally {
    clearInterval(timer);
  }
}

test("past the longest string, with timers firing all the while", { timeout: 120_000 }, async (t) => {
  const h = await withHost(t, { durability: "none", trace: { diff: false } });
  const row = { text: "lorem ipsum dolor sit amet ".repeat(20_000), list: [1, { ü: "\n" }] };
  const count = 1200;
  const began = performance.now();
  let result;
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  try {
    result = await h.files.writeJSON(
      "/session/big.json",
      Array.from({ length: count }, () => row),
    );
  } finally {
    clearInterval(timer);
  }
  const took = performance.now() - began;
  const text = JSON.stringify(row, null, 2).replaceAll("\n", "\n  ");
  const hash = createHash("sha256").update("[");
  for (let at = 0; at < count; at++) hash.update(`${at === 0 ? "" : ","}\n  ${text}`);
  assert.equal(result.sha256, hash.update("\n]").digest("hex"));
  assert.ok(result.bytes > 600e6, "more than a string can hold");
  assert.ok(took < 60_000, `took ${Math.round(took)} ms`);
  assert.ok(ticks > 20, `only ${ticks} ticks in ${Math.round(took)} ms`);
  assert.equal(fs.statSync(path.join(h.roots.session, "big.json")).size, result.bytes);
  await h.files.remove("/session/big.json");
});

const busy = {
  "many rows": () =>
    Array.from({ length: 300_000 }, (_, id) => ({ id, name: `User ${id}`, amount: id * 1.37, active: id % 3 === 0 })),
  "much that leaves no text": () =>
    Array.from({ length: 1000 }, () =>
      Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, undefined])),
    ),
  "a long hole": () => {
    const array = [];
    array.length = 2_000_000;
    return array;
  },
  "one long string to escape": () => '"\n'.repeat(10_000_000),
};
for (const [title, make] of Object.entries(busy)) {
  test(`timers go on firing: ${title}`, { timeout: 120_000 }, async (t) => {
    const h = await withHost(t, { durability: "none", trace: { diff: false } });
    const value = make();
    const { result, count, longest } = await ticksDuring(() => h.files.writeJSON(NAME, value));
    const text = Buffer.from(JSON.stringify(value, null, 2));
    assert.equal(result.sha256, createHash("sha256").update(text).digest("hex"));
    // Loose, since other programs run too; stringifying at once would be a single stall of the whole time.
    assert.ok(count >= 3 && longest < 1000, `${count} ticks, the longest wait ${Math.round(longest)} ms`);
  });
}
