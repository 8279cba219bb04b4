// Contents on their way out, as chunks under new names: nobody else sees them before the commit, so no lock is needed yet.
import { randomUUID } from "node:crypto";
import { ignore } from "../cancellation.js";
import { forEach } from "../persistent/parallel.js";
import type { OutgoingChange } from "../persistent/store.js";
import { batchesOf } from "./batches.js";
import type { Connection } from "./connection.js";
import { CHUNK_BYTES, type Tables, putChunks } from "./tables.js";

const READS_AT_ONCE = 8;

interface Chunk {
  readonly content: string;
  readonly part: number;
  readonly data: Uint8Array;
}

export class Upload {
  readonly #connection: Connection;
  readonly #tables: Tables;
  /** Path → the name of its content. */
  readonly contents = new Map<string, string>();
  /** One query is under way while the next chunks are read. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
  }

  async run(changes: readonly OutgoingChange[]): Promise<void> {
    for (const batch of batchesOf(changes)) {
      const [first] = batch;
      if (first !== undefined && (first.bytes ?? 0) > CHUNK_BYTES) await this.#stream(first);
      else await this.#send(await this.#read(batch));
    }
    await this.#sending;
  }

  async #read(batch: readonly OutgoingChange[]): Promise<Chunk[]> {
    const chunks: Chunk[] = [];
    await forEach(batch, READS_AT_ONCE, async (change) => {
      const data = await change.read();
      const content = this.#name(change);
      if (data.byteLength > 0) chunks.push({ content, part: 0, data });
    });
    return chunks;
  }

  async #stream(change: OutgoingChange): Promise<void> {
    const content = this.#name(change);
    let part = 0;
    for await (const data of chunksOf(change.open())) await this.#send([{ content, part: part++, data }]);
  }

  #name({ path }: OutgoingChange): string {
    const content = randomUUID();
    this.contents.set(path, content);
    return content;
  }

  async #send(chunks: readonly Chunk[]): Promise<void> {
    await this.#sending;
    if (chunks.length === 0) return;
    const values = chunks.flatMap(({ content, part, data }) => [content, part, asBuffer(data)]);
    this.#sending = this.#connection.query(putChunks(this.#tables, chunks.length), values);
    this.#sending.catch(ignore); // told when it is waited for
  }
}

/** The client takes another view for a list of numbers. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Cuts a stream anew. Each chunk is its own: the client may still hold the one before. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of stream) {
    for (let at = 0; at < piece.byteLength;) {
      const size = Math.min(CHUNK_BYTES - filled, piece.byteLength - at);
      chunk.set(piece.subarray(at, at + size), filled);
      filled += size;
      at += size;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
