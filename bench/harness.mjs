// Runs contenders in turn, round after round, and sets their medians side by side.
import { mkdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const place = join(process.env.BENCH_DIR ?? tmpdir(), `little-files-bench-${process.pid}`);

/**
 * Each contender is an async function of a fresh folder that gives `{ metric: number }`; only it knows what it timed.
 * Nobody is always first: the order moves on by one each round. The folder is deleted before the next contender starts,
 * so that nobody pays for writing out what another one left in the page cache. The first round only warms up.
 */
export async function compare(title, contenders, { rounds, needs = 0 }) {
  await enoughSpace(needs);
  const names = Object.keys(contenders);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length];
      progress(title, `${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}, ${name}`);
      const sample = await inFreshFolder(contenders[name]);
      if (round > 0) samples[name].push(sample);
    }
  }
  progress(title);
  return Object.fromEntries(names.map((name) => [name, medians(samples[name])]));
}

/** One line per comparison; on a terminal it also tells the round that runs. */
function progress(title, now) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${title}: ${now ?? "done\n"}`);
  else if (now === undefined) console.error(`${title}: done`);
}

async function inFreshFolder(contender) {
  await mkdir(place, { recursive: true });
  try {
    globalThis.gc?.(); // nobody pays for another one's garbage
    return await contender(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function medians(samples) {
  return Object.fromEntries(
    Object.keys(samples[0]).map((metric) => [metric, median(samples.map((sample) => sample[metric]))]),
  );
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

async function enoughSpace(bytes) {
  const { bavail, bsize } = await statfs(process.env.BENCH_DIR ?? tmpdir());
  if (bavail * bsize >= bytes) return;
  throw new Error(
    `This needs ${Math.ceil(bytes / 2 ** 30)} GiB in ${process.env.BENCH_DIR ?? tmpdir()}; name another folder in BENCH_DIR.`,
  );
}

/** One line of the table. `more` is true where a bigger figure is the better one. */
export function row(what, results, metric, unit, { more = false } = {}) {
  return {
    what,
    unit,
    more,
    values: Object.fromEntries(Object.entries(results).map(([name, found]) => [name, found[metric]])),
  };
}

/** Peers get the factor by which ours is better (below 1: by which ours is worse). */
export function markdown(rows) {
  const names = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  const cell = ({ values, unit, more }, name) => {
    if (values[name] === undefined) return "";
    const figure = `${digits(values[name])} ${unit}`;
    if (name === names[0]) return figure;
    const factor = more ? values[names[0]] / values[name] : values[name] / values[names[0]];
    return `${figure} (${factor.toFixed(2)}×)`;
  };
  const lines = [
    ["", ...names],
    names.map(() => "---"),
    ...rows.map((line) => [line.what, ...names.map((name) => cell(line, name))]),
  ];
  lines[1].push("---");
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function digits(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(value >= 10 ? 3 : 2);
}
