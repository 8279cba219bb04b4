// Looks at a content and says how to read it. Nothing is read here, and a stream that is refused is left as it was.
import { Readable } from "node:stream";
import { types } from "node:util";
import type { ByteStream } from "../index.js";
import { HarnessFileError, describe } from "./errors.js";
import type { Source } from "./source/batch.js";
import { asBytes, isShared } from "./source/bytes.js";
import { sourceFailed } from "./source/failure.js";
import { AsyncIteratorSource, IteratorSource } from "./source/iterator.js";
import { BytesSource, TextSource } from "./source/memory.js";
import { ReadableSource } from "./source/readable.js";
import { ReaderSource } from "./source/reader.js";

/** Up to here a buffer goes to the addon in one call, which copies it at once. */
const MAX_COPIED_BYTES = 8 * 1024 * 1024;
/** Up to here a string is encoded in one go: at most 768 KiB. */
const MAX_ENCODED_LENGTH = 256 * 1024;

/** Either all the bytes, or where they come from; and the media type that a Blob says it has. */
export type Content = ({ readonly bytes: Uint8Array } | { readonly source: Source }) & { readonly mediaType?: string };

export function openText(text: unknown): Content {
  if (typeof text !== "string") throw invalidContent(`The text is ${describe(text)}, not a string`);
  if (text.length <= MAX_ENCODED_LENGTH) return { bytes: Buffer.from(text) };
  return { source: new TextSource(text) };
}

export function openContent(content: unknown): Content {
  if (typeof content === "string") return openText(content);
  const bytes = asBytes(content);
  if (bytes !== undefined) return openBytes(bytes);
  if (typeof content !== "object" || content === null) throw refused(content);
  try {
    return openObject(content);
  } catch (error) {
    if (error instanceof HarnessFileError) throw error;
    throw invalidContent(`The content is ${describe(content)} that cannot be looked at`, error); // a getter that throws
  }
}

function openBytes(bytes: Uint8Array): Content {
  if (bytes.byteLength > MAX_COPIED_BYTES) return { source: new BytesSource(bytes) };
  // Another thread must not change what is copied natively.
  return { bytes: isShared(bytes) ? new Uint8Array(bytes) : bytes };
}

function openObject(content: object): Content {
  if (isBlob(content)) {
    const { type } = content;
    const source = new ReaderSource(reader(content.stream()));
    return { source, ...(isMediaType(type) && { mediaType: type }) };
  }
  if (isByteStream(content)) {
    if (isLocked(content)) throw invalidContent("The stream is locked: somebody else reads it");
    // Knows WHATWG streams as well, which its type does not say.
    if (Readable.isDisturbed(content as unknown as Readable))
      throw invalidContent("The stream was read from or cancelled before");
    return { source: new ReaderSource(reader(content)) };
  }
  if (isReadable(content)) return openReadable(content);
  if (isAsyncIterable(content)) return { source: new AsyncIteratorSource(content[Symbol.asyncIterator]()) };
  if (isChunks(content)) return { source: new IteratorSource(content[Symbol.iterator]()) };
  throw refused(content);
}

function openReadable(stream: Readable): Content {
  if (stream.errored) throw sourceFailed(stream.errored);
  if (stream.destroyed || stream.readableEnded || stream.readableDidRead || stream.readableFlowing === true) {
    throw invalidContent("The stream was read from, is being read by somebody else, or is destroyed");
  }
  return { source: new ReadableSource(stream) };
}

function reader(stream: ByteStream): ReturnType<ByteStream["getReader"]> {
  try {
    return stream.getReader();
  } catch (cause) {
    throw invalidContent("The stream gives no reader: somebody else reads it", cause);
  }
}

// All by structure: realms, polyfills and undici have classes of their own.

export function isBlob(content: object): content is Blob {
  const { stream, arrayBuffer, size } = content as Partial<Blob>;
  return typeof stream === "function" && typeof arrayBuffer === "function" && typeof size === "number";
}

function isByteStream(content: object): content is ByteStream {
  return typeof (content as Partial<ByteStream>).getReader === "function";
}

function isLocked(stream: ByteStream): boolean {
  return (stream as { locked?: unknown }).locked === true;
}

function isReadable(content: object): content is Readable {
  const { read, on, off, destroy } = content as Partial<Readable>;
  return [read, on, off, destroy].every((method) => typeof method === "function");
}

function isAsyncIterable(content: object): content is AsyncIterable<unknown> {
  return typeof (content as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}

/** Iterables that hold something else than chunks, or so little that it must be a mistake, are refused. */
function isChunks(content: object): content is Iterable<unknown> {
  if (typeof (content as Partial<Iterable<unknown>>)[Symbol.iterator] !== "function") return false;
  if (Array.isArray(content)) return content.length > 0;
  if (types.isSet(content)) return content.size > 0;
  const other = types.isMap(content) || types.isBoxedPrimitive(content);
  return !other && !/ (FormData|URLSearchParams|Headers)\]$/.test(Object.prototype.toString.call(content));
}

function isMediaType(type: unknown): type is string {
  return typeof type === "string" && type.length <= 1024 && /^[\u0020-\u007e]+$/.test(type);
}

function refused(content: unknown): HarnessFileError {
  return invalidContent(`The content is ${describe(content)}${hint(content)}`);
}

function hint(content: unknown): string {
  if (types.isPromise(content)) return ": await it first";
  if (typeof content === "function") return ": call it, if it makes the content";
  if (typeof content !== "object" || content === null)
    return ", not text, bytes, a Blob, a stream or an iterable of bytes";
  if ("body" in content && "arrayBuffer" in content) return ": pass its body";
  return ", not text, bytes, a Blob, a stream or an iterable of bytes; writeJSON takes values";
}

function invalidContent(message: string, cause?: unknown): HarnessFileError {
  return new HarnessFileError("FS_INVALID_CONTENT", message, cause === undefined ? {} : { cause });
}
