// Another program on the bucket: the AWS SDK itself, straight at the server. It works in a thread of its own while ours waits,
// since the suites write and read stores without a promise.
import { MessageChannel, Worker, isMainThread, receiveMessageOnPort, workerData } from "node:worker_threads";
import { BUCKET } from "../../../scripts/engines/s3.mjs";

const LIMIT_MS = 120_000;

const all = new Map();

/** One for each server: a thread takes its time to start. */
export function outsideOf(port) {
  if (!all.has(port)) all.set(port, new Outside(port, BUCKET));
  return all.get(port);
}

class Outside {
  #worker;
  #turn = new Int32Array(new SharedArrayBuffer(4));
  #port;

  /** `port`: of the server. */
  constructor(port, bucket) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const data = { port, bucket, answers: port2, turn: this.#turn };
    this.#worker = new Worker(new URL(import.meta.url), { workerData: data, transferList: [port2] });
    this.#worker.unref();
    port1.unref();
  }

  #call(name, ...args) {
    const before = Atomics.load(this.#turn, 0);
    this.#worker.postMessage({ name, args });
    if (Atomics.wait(this.#turn, 0, before, LIMIT_MS) === "timed-out") throw new Error(`${name} took too long`);
    const { value, failure } = receiveMessageOnPort(this.#port).message;
    if (failure !== undefined) throw new Error(`${name}: ${failure}`);
    return value;
  }

  /** Everything below a prefix: name → bytes. */
  read(prefix) {
    return new Map(this.#call("read", prefix).map(([name, bytes]) => [name, Buffer.from(bytes)]));
  }
  /** Name → { etag, bytes, metadata, contentType } of one object. */
  head(key) {
    return this.#call("head", key);
  }
  write(key, content, more = {}) {
    this.#call("write", key, Buffer.from(content), more);
  }
  /** `held`: name → content. */
  fill(prefix, held) {
    this.#call(
      "fill",
      prefix,
      [...held].map(([name, content]) => [name, Buffer.from(content)]),
    );
  }
  remove(key) {
    this.#call("remove", key);
  }
  uploads() {
    return this.#call("uploads");
  }
}

if (!isMainThread && workerData?.answers !== undefined) await answer();

async function answer() {
  const { parentPort } = await import("node:worker_threads");
  const sdk = await import("@aws-sdk/client-s3");
  const { clientAt } = await import("./client.mjs");
  const { bucket: Bucket, port, answers, turn } = workerData;
  const client = clientAt(() => port);
  const send = (name, input) => client.send(new sdk[`${name}Command`]({ Bucket, ...input }));
  const get = async (Key) => (await send("GetObject", { Key })).Body.transformToByteArray();
  const calls = {
    async read(Prefix) {
      const keys = [];
      for (let ContinuationToken; ;) {
        const page = await send("ListObjectsV2", { Prefix, ContinuationToken, EncodingType: "url" });
        for (const { Key } of page.Contents ?? []) keys.push(decodeURIComponent(Key));
        ContinuationToken = page.NextContinuationToken;
        if (ContinuationToken === undefined) break;
      }
      return Promise.all(keys.map(async (key) => [key.slice(Prefix.length), await get(key)]));
    },
    async head(Key) {
      const { ETag, ContentLength, Metadata, ContentType } = await send("HeadObject", { Key });
      return { etag: ETag, bytes: ContentLength, metadata: Metadata, contentType: ContentType };
    },
    write: (Key, Body, more) => send("PutObject", { Key, Body, ...more }).then(() => undefined),
    async fill(prefix, contents) {
      const rest = contents.values();
      const writer = async () => {
        for (const [name, Body] of rest) await send("PutObject", { Key: prefix + name, Body });
      };
      await Promise.all(Array.from({ length: 16 }, writer));
    },
    remove: (Key) => send("DeleteObject", { Key }).then(() => undefined),
    uploads: async () => (await send("ListMultipartUploads", {})).Uploads?.map(({ Key }) => Key) ?? [],
  };
  parentPort.on("message", async ({ name, args }) => {
    let reply;
    try {
      reply = { value: await calls[name](...args) };
    } catch (error) {
      reply = { failure: `${error.name}: ${error.message}` };
    }
    answers.postMessage(reply);
    Atomics.add(turn, 0, 1);
    Atomics.notify(turn, 0);
  });
}
