// The sha256 of a value's JSON text, without that text: what may be large in a message is hashed slice by slice.
import { createHash, randomUUID } from "node:crypto";
import { isBlob } from "../content.js";
import { HarnessFileError, nameOf } from "../errors.js";
import { Pace } from "../pace.js";
import { asBytes } from "../source/bytes.js";
import { sliceEnd } from "../source/text-feed.js";

const SLICE = 256 * 1024;
/** Longer strings are hashed by themselves. */
const MAX_SHORT = 16 * 1024;
/** Below, a value is left as it is. */
const MAX_DEPTH = 100;

/** As of `JSON.stringify(value)`, for what JSON can hold. Bytes, which it cannot, count by their digest. */
export async function jsonDigest(value: unknown): Promise<string> {
  const work = new Work();
  const text = stringify(await work.outline(value, 0));
  const hash = createHash("sha256");
  for (const [at, piece] of text.split(JSON.stringify(work.standIn)).entries()) {
    const long = at === 0 ? undefined : work.long[at - 1];
    if (long !== undefined) for (const quoted of quotedSlices(long)) await work.add(hash, quoted);
    await work.add(hash, piece);
  }
  return hash.digest("hex");
}

class Work {
  /** The long strings, in the order in which they stand in the text. */
  readonly long: string[] = [];
  /** Stands for each of them. */
  readonly standIn = randomUUID();
  readonly #pace = new Pace();

  /** The same value with stand-ins for what is large. */
  async outline(value: unknown, depth: number): Promise<unknown> {
    if (typeof value === "string" && value.length > MAX_SHORT) {
      this.long.push(value);
      return this.standIn;
    }
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
    const bytes = asBytes(value);
    if (bytes !== undefined) return this.#bytes(bytes);
    if (isBlob(value)) return this.#blob(value);
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      for (const each of value as unknown[]) copy.push(await this.outline(each, depth + 1));
      return copy;
    }
    if (!isPlain(value)) return value;
    const copy: Array<[string, unknown]> = [];
    for (const [key, each] of Object.entries(value)) copy.push([key, await this.outline(each, depth + 1)]);
    return Object.fromEntries(copy);
  }

  async #bytes(bytes: Uint8Array): Promise<unknown> {
    const hash = createHash("sha256");
    for (let at = 0; at < bytes.byteLength; at += SLICE) await this.add(hash, bytes.slice(at, at + SLICE));
    return { type: "bytes", bytes: bytes.byteLength, sha256: hash.digest("hex") };
  }

  async #blob(blob: Blob): Promise<unknown> {
    const hash = createHash("sha256");
    for (let at = 0; at < blob.size; at += SLICE) {
      await this.add(hash, new Uint8Array(await blob.slice(at, at + SLICE).arrayBuffer()));
    }
    const { name } = blob as { name?: unknown };
    return { type: "blob", name, mediaType: blob.type, bytes: blob.size, sha256: hash.digest("hex") };
  }

  async add(hash: ReturnType<typeof createHash>, piece: string | Uint8Array): Promise<void> {
    hash.update(piece);
    if (this.#pace.dueNow()) await this.#pace.turn();
  }
}

/** Pairs stay together: each half alone would be written as an escape. */
function* quotedSlices(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    const end = sliceEnd(text, at + SLICE);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** Its JSON is that of its members. */
function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const message = `A message without an id is known by its JSON, and it has none (${nameOf(cause)}). Give it an id`;
    throw new HarnessFileError("FS_INVALID_CONTENT", message, { cause });
  }
}
