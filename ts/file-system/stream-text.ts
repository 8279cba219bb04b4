// A text file of any size, in pieces of whole characters.
import { HarnessFileError } from "../errors.js";
import type { Access } from "./access.js";

/** A NUL so near the beginning says that it is no text, as in every read of text. */
const LOOKED_AT = 8192;

export async function* streamText(
  access: Access,
  pathOf: () => string,
  signalOf: () => AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const path = pathOf();
  const signal = signalOf();
  const stream = await access.files.readStream(path, { ...(signal !== undefined && { signal }) });
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let read = 0;
  for await (const chunk of stream) {
    const looked = chunk.subarray(0, Math.max(0, LOOKED_AT - read));
    if (looked.includes(0)) throw notText(path);
    read += chunk.byteLength;
    const text = decode(() => decoder.decode(chunk, { stream: true }), path);
    if (text !== "") yield text;
  }
  decode(() => decoder.decode(), path);
}

function decode(work: () => string, path: string): string {
  try {
    return work();
  } catch (cause) {
    throw notText(path, cause);
  }
}

function notText(path: string, cause?: unknown): HarnessFileError {
  return new HarnessFileError("FS_NOT_TEXT", `Not UTF-8 text: ${path}`, {
    path,
    ...(cause !== undefined && { cause }),
  });
}
