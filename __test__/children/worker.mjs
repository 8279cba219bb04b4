// A worker thread of terminating.mjs: says "writing", and writes and reads with many calls under way at any time.
import { parentPort, workerData } from "node:worker_threads";
import { localHost } from "@little-stack/files";
import { tagged } from "../support/content.mjs";

const { dataDir, how, round } = workerData;
const host = localHost({ dataDir, onEvent: () => {} });
const { files } = await host.sessions.getOrCreate({ id: "workers" });
const stream = async function* (tag) {
  for (let n = 0; n < 64; n++) yield tagged(tag, 1 << 16);
};
const work = async (lane, times) => {
  const tag = `w${round % 5}-${lane}`;
  for (let n = 0; n < times; n++) {
    if (lane % 2 === 0) await files.write(`/session/${tag}.bin`, tagged(tag, 50_000));
    else await files.write(`/session/${tag}.bin`, stream(tag));
    if (how === "many") for await (const _ of await files.readStream(`/session/${tag}.bin`)) { /* drained */ }
    await files.list("/session");
  }
};
parentPort.postMessage("writing");
await Promise.all([0, 1, 2, 3, 4, 5].map((lane) => work(lane, how === "finish" ? 2 : Infinity)));
if (round % 2 === 0) await host.close();
