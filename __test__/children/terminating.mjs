// terminating.mjs DATADIR HOW ROUNDS: starts worker threads that write, and terminates each after a random while. Says how
// many ended, what errors they had, and what they left that is not the whole of one content.
// HOW: workers-only, beside-main (this thread writes too), many (four at a time), streams, finish (they end by themselves).
import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { tagOf } from "../support/content.mjs";
import { sleep } from "../support/process.mjs";

const [dataDir, how, rounds] = process.argv.slice(2);
const root = path.join(dataDir, "sessions", "workers", "session");
const errors = [];
let terminated = 0;
let stop = false;
let beside = Promise.resolve();
let host;
if (how === "beside-main" || how === "streams") {
  // While this thread has the addon too, what a worker that ended had asked for still runs.
  const { localHost } = await import("@little-stack/files");
  host = localHost({ dataDir });
}
if (how === "beside-main") {
  const session = await host.sessions.getOrCreate({ id: "workers" });
  beside = (async () => {
    while (!stop) {
      await session.files.write("/session/main.bin", Buffer.from("main....".repeat(1000)));
      if ((await session.files.read("/session/main.bin")).bytes !== 8000)
        errors.push("main.bin is not what this thread wrote");
    }
  })();
}

/** Each file is the whole content of the write that it is named after. */
function look() {
  for (const name of fs.readdirSync(root)) {
    const bytes = fs.readFileSync(path.join(root, name));
    try {
      if (tagOf(bytes) !== path.basename(name, ".bin")) throw new Error(`it holds ${tagOf(bytes)}`);
    } catch (error) {
      errors.push(`${name}, ${bytes.length} bytes: ${error.message}`);
    }
  }
}

async function one(round) {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), { workerData: { dataDir, how, round } });
  const writing = new Promise((resolve) => {
    worker.once("message", resolve);
  });
  const ended = new Promise((resolve) => {
    worker.once("exit", resolve);
  });
  worker.on("error", (error) => errors.push(String(error.stack ?? error)));
  if (how !== "finish") {
    await Promise.race([writing, ended]);
    await sleep(Math.random() * 60);
    await worker.terminate();
  }
  await ended;
  terminated++;
  if (how !== "streams") return;
  await sleep(100); // what was under way when it ended
  look();
}
const lanes = how === "many" ? 4 : 1;
let next = 0;
await Promise.all(
  Array.from({ length: lanes }, async () => {
    while (next < Number(rounds)) await one(next++);
  }),
);
stop = true;
await beside;
await host?.close();
look();
console.log(JSON.stringify({ terminated, errors: [...new Set(errors)] }));
