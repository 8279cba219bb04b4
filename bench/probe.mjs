// How long work takes, and the longest time for which nothing else in the process got a turn meanwhile.

/** A timer that is due every millisecond: what it comes late is what everyone else in the process waits. */
export async function probed(work) {
  let stall = 0;
  let last = performance.now();
  const tick = () => {
    const now = performance.now();
    stall = Math.max(stall, now - last - 1);
    last = now;
  };
  const start = performance.now();
  const timer = setInterval(tick, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
    tick();
  }
  return { time: performance.now() - start, stall };
}
