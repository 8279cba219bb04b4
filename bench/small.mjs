// New files of 4 KiB: one at a time, 64 at once, and one at a time each on the disk before the next.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Bench } from "tinybench";
import { compare, row } from "./harness.mjs";
import { node, nodeWrite, ours, wfa, wfaWrite, withFiles } from "./peers.mjs";

const content = randomBytes(4096);
const atOnce = 64;

export async function small({ quick }) {
  const rounds = quick ? 2 : 5;
  const single = await compare("4 KiB, one at a time", contenders(oneAtATime, quick ? 200 : 2000), { rounds });
  const many = await compare("4 KiB, 64 at once", contenders(manyAtOnce, quick ? 640 : 6400), { rounds });
  const durable = await compare("4 KiB, each on the disk", contenders(oneAtATime, quick ? 50 : 300, true), { rounds });
  return [
    row("4 KiB write, one at a time", single, "mean", "µs"),
    row("… 99 of 100 are faster than", single, "p99", "µs"),
    row("4 KiB write, 64 at once", many, "mean", "µs"),
    row("4 KiB write, each flushed to the disk", durable, "mean", "µs"),
  ];
}

function contenders(load, count, durable = false) {
  return {
    [ours]: (folder) =>
      withFiles(folder, { durability: durable ? "write" : "turn" }, (files) =>
        load(count, (n) => files.write(`/session/${n}.bin`, content)),
      ),
    [node]: (folder) => load(count, (n) => nodeWrite(join(folder, `${n}.bin`), content, { durable })),
    [wfa]: (folder) => load(count, (n) => wfaWrite(join(folder, `${n}.bin`), content, { durable })),
  };
}

async function oneAtATime(count, write) {
  let n = 0;
  const bench = new Bench({ iterations: count, time: 0, warmup: false });
  bench.add("write", () => write(n++));
  const [{ result }] = await bench.run();
  if (result.error) throw result.error;
  return { mean: result.latency.mean * 1000, p99: result.latency.p99 * 1000 };
}

/** As many in flight all the time. `mean` is the time of the whole, shared out. */
async function manyAtOnce(count, write) {
  let n = 0;
  const worker = async () => {
    while (n < count) await write(n++);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { mean: ((performance.now() - start) * 1000) / count };
}
