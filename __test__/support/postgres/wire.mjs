// The proxy and another program's client, in a thread of their own: the tests ask it without a promise, as they ask any store.
import { MessageChannel, Worker, receiveMessageOnPort } from "node:worker_threads";

const LIMIT = 60_000;

export class Wire {
  #worker;

  static async open({ port, password }) {
    const wire = new Wire();
    const workerData = { port, password };
    wire.#worker = new Worker(new URL("wire-thread.mjs", import.meta.url), { workerData });
    wire.#worker.unref();
    wire.port = await new Promise((resolve, reject) => {
      wire.#worker.once("message", resolve).once("error", reject);
    });
    wire.password = password;
    return wire;
  }

  /** Waits for the answer; nothing else happens in this thread meanwhile. */
  ask(op, ...args) {
    const { port1, port2 } = new MessageChannel();
    const done = new Int32Array(new SharedArrayBuffer(4));
    this.#worker.postMessage({ op, args, done, port: port2 }, [port2]);
    if (Atomics.wait(done, 0, 0, LIMIT) === "timed-out") throw new Error(`no answer to ${op} within ${LIMIT} ms`);
    const { value, failure } = receiveMessageOnPort(port1).message;
    port1.close();
    if (failure !== undefined) throw new Error(`${op}: ${failure}`);
    return value;
  }

  async close() {
    await this.#worker.terminate();
  }
}
