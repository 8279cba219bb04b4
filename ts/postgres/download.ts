// Contents on their way in. While one query's worth is put away, the next one is under way.
import { ignore } from "../cancellation.js";
import { HarnessFileError } from "../errors.js";
import { forEach } from "../persistent/parallel.js";
import type { Incoming } from "../persistent/store.js";
import { batchesOf } from "./batches.js";
import type { Connection } from "./connection.js";
import type { Stored } from "./load.js";
import { CHUNK_BYTES, type Tables, chunkOf, contentsOf } from "./tables.js";

const PUTS_AT_ONCE = 8;

interface Chunk {
  readonly data: unknown;
}

export class Download {
  readonly #connection: Connection;
  readonly #tables: Tables;
  readonly #incoming: Incoming;

  constructor(connection: Connection, tables: Tables, incoming: Incoming) {
    this.#connection = connection;
    this.#tables = tables;
    this.#incoming = incoming;
  }

  async run(files: readonly Stored[]): Promise<void> {
    const small = files.filter(({ bytes }) => bytes <= CHUNK_BYTES);
    const batches = batchesOf(small);
    let next = this.#fetch(batches[0]);
    for (const [n, batch] of batches.entries()) {
      const contents = await next;
      next = this.#fetch(batches[n + 1]);
      await forEach(batch, PUTS_AT_ONCE, async (file) => {
        const parts = contents.get(file.content) ?? [];
        await this.#incoming.put(file.path, joined(file, parts), file.content);
      });
    }
    for (const file of files) if (file.bytes > CHUNK_BYTES) await this.#stream(file);
  }

  /** A failure of ours is told as it is, and not as one of a content. */
  async #stream(file: Stored): Promise<void> {
    const chunks = this.#chunks(file);
    let failure: { readonly error: unknown } | undefined;
    const watched = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield* chunks;
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      await this.#incoming.put(file.path, watched(), file.content);
    } catch (error) {
      throw failure === undefined ? error : (failure as { readonly error: unknown }).error;
    }
  }

  #fetch(batch: readonly Stored[] | undefined): Promise<Map<string, Uint8Array[]>> {
    const fetched = this.#contentsOf(batch ?? []);
    fetched.catch(ignore); // told when it is waited for, which it is not after a failure
    return fetched;
  }

  async #contentsOf(batch: readonly Stored[]): Promise<Map<string, Uint8Array[]>> {
    const contents = new Map<string, Uint8Array[]>();
    if (batch.length === 0) return contents;
    const ids = `{${batch.map(({ content }) => content).join()}}`;
    const query = contentsOf(this.#tables);
    for (const { content, data } of await this.#connection.query<Chunk & { content: string }>(query, [ids])) {
      const parts = contents.get(content) ?? [];
      parts.push(bytesOf(data));
      contents.set(content, parts);
    }
    return contents;
  }

  async *#chunks(file: Stored): AsyncGenerator<Uint8Array> {
    let left = file.bytes;
    let next = this.#chunk(file, 0);
    for (let part = 1; left > 0; part++) {
      const data = await next;
      left -= data.byteLength;
      if (left < 0 || data.byteLength === 0) throw notWhole(file);
      if (left > 0) next = this.#chunk(file, part);
      yield data;
    }
  }

  #chunk(file: Stored, part: number): Promise<Uint8Array> {
    const chunk = this.#connection.query<Chunk>(chunkOf(this.#tables), [file.content, part]).then(([row]) => {
      if (row === undefined) throw notWhole(file);
      return bytesOf(row.data);
    });
    chunk.catch(ignore); // told when it is waited for
    return chunk;
  }
}

function joined(file: Stored, parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
  if (whole.byteLength !== file.bytes) throw notWhole(file);
  return whole;
}

function bytesOf(data: unknown): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, "base64");
  const message = "The client gives text as something else than a string: a type parser of yours?";
  throw new HarnessFileError("FS_LOAD_FAILED", message);
}

function notWhole({ path, bytes }: Stored): HarnessFileError {
  return new HarnessFileError("FS_LOAD_FAILED", `The chunks of ${path} do not add up to its ${bytes} bytes`);
}
