// A worker thread of terminating.mjs: says "writing", and writes and reads with many calls under way at any time.
import { parentPort, workerData } from "node:worker_threads";
import { localHost } from "@little-stack/files";
import { tagged } from "../support/content.mjs";

const { dataDir, how, round } = workerData;
const host = localHost({ dataDir, onEvent: () => {} });
const { files } = await host.sessions.getOrCreate({ id: "workers" });
const stream = async function* (tag, pieces) {
  const piece = tagged(tag, 1 << 16);
  for (let n = 0; n < pieces; n++) yield piece;
};
const work = async (lane, times) => {
  const tag = `w${round % 5}-${lane}`;
  const name = `/session/${tag}.bin`;
  for (let n = 0; n < times; n++) {
    if (how === "streams") await files.write(name, stream(tag, 15 + 16 * (lane % 2)));
    else if (lane % 2 === 0) await files.write(name, tagged(tag, 50_000));
    else await files.write(name, stream(tag, 64));
    if (how === "many")
      for await (const _ of await files.readStream(name)) {
        /* drained */
      }
    if (how !== "streams") await files.list("/session");
  }
};
parentPort.postMessage("writing");
const lanes = Array.from({ length: how === "streams" ? 48 : 6 }, (_, lane) => lane);
await Promise.all(lanes.map((lane) => work(lane, how === "finish" ? 2 : Infinity)));
if (round % 2 === 0) await host.close();
