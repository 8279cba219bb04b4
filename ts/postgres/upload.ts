// Contents on their way out, as chunks under new names: nobody else sees them before the commit, so no lock is needed yet.
import { randomUUID } from "node:crypto";
import { ignore } from "../cancellation.js";
import type { OutgoingChange } from "../persistent/store.js";
import type { Connection } from "./connection.js";
import { CHUNK_BYTES, type Tables, putChunks } from "./tables.js";

const FILES_AT_ONCE = 256;

export class Upload {
  readonly #connection: Connection;
  readonly #tables: Tables;
  /** Path → the name of its content. */
  readonly contents = new Map<string, string>();
  #values: unknown[] = [];
  #held = 0;
  /** One query is under way while the next chunks are read. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
  }

  async run(changes: readonly OutgoingChange[]): Promise<void> {
    for (const change of changes) {
      const content = randomUUID();
      this.contents.set(change.path, content);
      if ((change.bytes ?? 0) > CHUNK_BYTES) await this.#stream(content, change);
      else await this.#add(content, 0, await change.read());
    }
    await this.#send();
    await this.#sending;
  }

  async #stream(content: string, change: OutgoingChange): Promise<void> {
    let part = 0;
    for await (const chunk of chunksOf(change.open())) await this.#add(content, part++, chunk);
  }

  async #add(content: string, part: number, data: Uint8Array): Promise<void> {
    if (data.byteLength === 0) return;
    const full = this.#held + data.byteLength > CHUNK_BYTES || this.#values.length >= 3 * FILES_AT_ONCE;
    if (full) await this.#send();
    this.#values.push(content, part, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    this.#held += data.byteLength;
  }

  async #send(): Promise<void> {
    await this.#sending;
    const values = this.#values;
    if (values.length === 0) return;
    this.#values = [];
    this.#held = 0;
    this.#sending = this.#connection.query(putChunks(this.#tables, values.length / 3), values);
    this.#sending.catch(ignore); // told when it is waited for
  }
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
