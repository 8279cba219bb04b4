// What a person sees while work runs: a bar on a terminal, a line per step elsewhere. On stderr, so that stdout stays clean.
const terminal = process.stderr.isTTY === true;
const width = 30;

/** Runs `work` with a bar that follows `done()` up to `total` bytes. */
export async function following(title, total, done, work) {
  const draw = () => {
    const part = total === 0 ? 1 : Math.min(done() / total, 1);
    const filled = Math.round(part * width);
    write(
      `${title}  ${"█".repeat(filled)}${"░".repeat(width - filled)} ${String(Math.round(part * 100)).padStart(3)} %`,
    );
  };
  return shown(title, draw, work);
}

/** Runs `work`, of which nothing is known but that it runs. */
export async function step(title, work) {
  const start = performance.now();
  return shown(title, () => write(`${title}  ${((performance.now() - start) / 1000).toFixed(1)} s`), work);
}

async function shown(title, draw, work) {
  const start = performance.now();
  const timer = terminal ? setInterval(draw, 80) : undefined;
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (terminal) process.stderr.write("\r\x1b[K");
    console.error(`${title}: ${Math.round(performance.now() - start).toLocaleString("en")} ms`);
  }
}

function write(line) {
  process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
}
