// One object's content on its way in.
import { listen, unlisten } from "../cancellation.js";
import type { Incoming } from "../persistent/store.js";
import type { Bucket } from "./bucket.js";
import { sameVersion } from "./etag.js";
import { ContentBroke, RequestFailed } from "./failure.js";
import type { Listed } from "./load.js";
import type { Operations } from "./sdk.js";

/** Up to here a content is collected before it is handed on: one call for each, and a connection that breaks is tried again. */
const MAX_COLLECTED_BYTES = 1024 * 1024;
const MAX_TRIES = 3;

type Body = NonNullable<Operations["GetObject"][1]["Body"]>;

export async function fetchInto(
  incoming: Incoming,
  bucket: Bucket,
  { key, path, version }: Listed,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const object = await bucket.askOf("GetObject", key, signal).catch((error: unknown) => {
      throw error instanceof RequestFailed ? error.of(path) : error;
    });
    if (object === undefined) return; // deleted since it was listed
    const { Body: body, ContentLength: bytes, ETag = version } = object;
    const held = sameVersion(ETag, version) ? version : ETag; // as the next listing writes it
    if (body === undefined) return incoming.put(path, new Uint8Array(), held);
    if (bytes === undefined || bytes > MAX_COLLECTED_BYTES || typeof body.transformToByteArray !== "function")
      return stream(incoming, path, body, bytes, held);
    let content: Uint8Array;
    try {
      content = await collected(body, signal);
      if (content.byteLength !== bytes) throw endedEarly();
    } catch (error) {
      if (tries < MAX_TRIES && signal?.aborted !== true) continue;
      throw new ContentBroke(path, error);
    }
    return incoming.put(path, content, held);
  }
}

/** The client's part is done when the answer begins: what ends the rest of it is ours. */
async function collected(body: Body, signal: AbortSignal | undefined): Promise<Uint8Array> {
  if (signal === undefined) return body.transformToByteArray();
  const ending = { abort: () => destroy(body, new Error("The load was aborted")) };
  listen(signal, ending);
  if (signal.aborted) ending.abort();
  try {
    return await body.transformToByteArray();
  } finally {
    unlisten(signal, ending);
  }
}

function destroy(body: Body, error?: Error): void {
  (body as { destroy?: (error?: Error) => void }).destroy?.(error);
}

/** What breaks off here is no content that cannot be taken, and is told as what it is. */
async function stream(
  incoming: Incoming,
  path: string,
  body: Body,
  bytes: number | undefined,
  version: string | undefined,
): Promise<void> {
  if (!(Symbol.asyncIterator in Object(body))) return incoming.put(path, body, version); // bytes, text or a Blob
  let broke: ContentBroke | undefined;
  async function* watched(): AsyncGenerator<Uint8Array | string> {
    let come = 0;
    try {
      for await (const piece of body as unknown as AsyncIterable<Uint8Array | string>) {
        come += Buffer.byteLength(piece);
        yield piece;
      }
      if (bytes !== undefined && come !== bytes) throw endedEarly();
    } catch (error) {
      throw (broke = new ContentBroke(path, error));
    }
  }
  try {
    await incoming.put(path, watched(), version);
  } catch (error) {
    destroy(body); // it may not have come to be read
    throw broke ?? error;
  }
}

/** What a connection that ends says nothing of would come in as a shorter file, and go back as one. */
function endedEarly(): Error {
  return new Error("The content has not the length that was announced");
}
