// terminating.mjs DATADIR HOW ROUNDS: starts worker threads that write, and terminates each after a random while.
// HOW: workers-only, beside-main (this thread writes too), many (four at a time), finish (they end by themselves).
import { once } from "node:events";
import { Worker } from "node:worker_threads";

const [dataDir, how, rounds] = process.argv.slice(2);
const errors = [];
let terminated = 0;
let stop = false;
let beside = Promise.resolve();
let host;
if (how === "beside-main") {
  const { localHost } = await import("@little-stack/files");
  host = localHost({ dataDir });
  const session = await host.sessions.getOrCreate({ id: "workers" });
  beside = (async () => {
    while (!stop) {
      await session.files.write("/session/main.bin", Buffer.from("main....".repeat(1000)));
      if ((await session.files.read("/session/main.bin")).bytes !== 8000) errors.push("main.bin is not what this thread wrote");
    }
  })();
}
async function one(round) {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), { workerData: { dataDir, how, round } });
  worker.on("error", (error) => errors.push(String(error.stack ?? error)));
  const ended = once(worker, "exit");
  if (how !== "finish") {
    await Promise.race([once(worker, "message"), ended]);
    await new Promise((resolve) => { setTimeout(resolve, Math.random() * 60); });
    await worker.terminate();
  }
  await ended;
  terminated++;
}
const lanes = how === "many" ? 4 : 1;
let next = 0;
await Promise.all(Array.from({ length: lanes }, async () => {
  while (next < Number(rounds)) await one(next++);
}));
stop = true;
await beside;
await host?.close();
console.log(JSON.stringify({ terminated, errors }));
