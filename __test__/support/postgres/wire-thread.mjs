// The thread of wire.mjs.
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import * as outside from "./outside.mjs";
import { Proxy } from "./proxy.mjs";

const pool = new pg.Pool({ host: "127.0.0.1", port: workerData.port, user: "postgres", password: workerData.password });
pool.on("error", () => {});
const proxy = await Proxy.open(workerData.port);

const operations = {
  async read(scope) {
    await proxy.settle();
    return outside.read(pool, scope);
  },
  write: (scope, path, bytes) => outside.write(pool, scope, path, Buffer.from(bytes)),
  remove: (scope, path) => outside.remove(pool, scope, path),
  /** The k-th query, or for "after" the k-th commit, is where the connection ends, and no other is to be had until `heal`. */
  fail(k, when) {
    let left = k;
    proxy.onQuery = ({ text, writes }) => {
      if (when === "after" && !(text === "COMMIT" && writes)) return undefined;
      if (--left > 0) return undefined;
      proxy.onQuery = () => "cut"; // whoever comes next
      return when === "before" ? "cut" : "lose";
    };
  },
  heal() {
    proxy.onQuery = undefined;
  },
};

parentPort.on("message", async ({ op, args, done, port }) => {
  const answer = {};
  try {
    answer.value = await operations[op](...args);
  } catch (error) {
    answer.failure = String(error.stack);
  }
  port.postMessage(answer);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
});
parentPort.postMessage(proxy.port);
