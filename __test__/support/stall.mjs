// How long the event loop stands still while something runs (promise G10), told apart from what a busy machine does.
import assert from "node:assert/strict";
import fs from "node:fs";

/** Milliseconds that the main thread was ready to run and had no processor, where the system tells: others' doing. */
const waited = (() => {
  const statistics = `/proc/self/task/${process.pid}/schedstat`; // ns on a processor, ns waiting for one, turns
  if (!fs.existsSync(statistics)) return () => 0;
  const open = fs.openSync(statistics);
  const buffer = Buffer.alloc(128);
  return () => Number(buffer.toString("latin1", 0, fs.readSync(open, buffer, 0, 128, 0)).split(" ")[1]) / 1e6;
})();

const own = () => performance.now() - waited();

async function longestGap(run) {
  let last = own();
  let longest = 0;
  const look = () => {
    const now = own();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const beat = setInterval(look, 1);
  try {
    await new Promise((resolve) => setTimeout(resolve, 20));
    look();
    longest = 0;
    await run();
    look();
  } finally {
    clearInterval(beat);
  }
  return longest;
}

/** Works in slices of a millisecond, as a well-behaved program would: its gaps are the machine's. */
async function behave(ms) {
  for (const end = performance.now() + ms; performance.now() < end;) {
    for (const slice = performance.now() + 1; performance.now() < slice;);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Runs `run` up to three times; one of them must keep the loop turning, give or take what the machine's load costs. It has to do the
 * whole work each time: `prepare` comes before each, and is not measured.
 */
export async function staysResponsive(run, allowedMs = 30, prepare = async () => {}) {
  const tries = [];
  for (let round = 0; round < 3; round += 1) {
    await prepare();
    const noise = await longestGap(() => behave(300));
    const gap = await longestGap(run);
    if (gap < allowedMs + 2 * noise) return gap;
    tries.push(`${Math.round(gap)} ms (${Math.round(noise)} ms without it)`);
  }
  return assert.fail(`the event loop stood still for ${tries.join(", ")}`);
}
