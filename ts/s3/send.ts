// Sends one change, if the object is still what the change was made to.
import { PersistentDirConflict } from "../persistent/conflict.js";
import type { OutgoingChange } from "../persistent/store.js";
import type { Bucket } from "./bucket.js";
import { sameVersion } from "./etag.js";
import { RequestFailed, isMissing, isRefused, isUnknownToServer } from "./failure.js";
import { PART_BYTES, sendParts } from "./parts.js";
import type { Room } from "./room.js";
import type { Operations } from "./sdk.js";

/** Where a change goes, and what it shares with the others of its commit. */
export interface Target {
  readonly bucket: Bucket;
  readonly key: string;
  readonly conditional: boolean;
  readonly requests: Room;
  readonly memory: Room;
  readonly signal: AbortSignal | undefined;
}

/** Where the server knows no conditions, none. */
export type Condition = { readonly IfMatch?: string; readonly IfNoneMatch?: "*" };

type Held = Operations["HeadObject"][1] | undefined;

export function send(target: Target, change: OutgoingChange): Promise<{ version?: string }> {
  return change.change === "deleted" ? sendDeletion(target, change) : sendContent(target, change);
}

async function sendContent(target: Target, change: OutgoingChange): Promise<{ version?: string }> {
  if (!target.conditional) {
    const held = await head(target);
    // First: what an object that is still the base says of its content may be what somebody copied along.
    if (!isBase(held, change)) {
      if (holds(held, change)) return versionOf(held);
      throw new PersistentDirConflict([change.path]);
    }
  }
  try {
    return versionOf(await put(target, change, condition(target, change)));
  } catch (error) {
    const maybeOurs = error instanceof RequestFailed && (isRefused(error) || error.reason === "NoSuchUpload");
    if (!maybeOurs) throw error;
    // The answer to a first try may have been lost, so that our own object was what the next one met.
    const held = await head(target);
    if (holds(held, change)) return versionOf(held);
    if (!isRefused(error)) throw error;
    throw new PersistentDirConflict([change.path], { cause: error.cause });
  }
}

async function put(target: Target, change: OutgoingChange, ifHeld: Condition): Promise<{ ETag?: string | undefined }> {
  const { bytes = 0 } = change;
  if (bytes > PART_BYTES) return sendParts(target, change, about(change), ifHeld);
  const { bucket, key, memory, requests, signal } = target;
  return memory.during(bytes, async () => {
    const content = await change.read();
    const input = { Key: key, Body: content, ContentLength: content.byteLength, ...about(change), ...ifHeld };
    return requests.during(1, () => bucket.ask("PutObject", input, signal));
  });
}

/** A header can hold it, by any client. */
const PLAIN = /^[\u0020-\u007e]+$/;

/** What an object says of its content. A media type that no request can carry is left out: the content goes all the same. */
function about({ sha256, mediaType }: OutgoingChange): { ContentType?: string; Metadata?: Record<string, string> } {
  return {
    ...(mediaType !== undefined && PLAIN.test(mediaType) && { ContentType: mediaType }),
    ...(sha256 !== undefined && { Metadata: { sha256 } }),
  };
}

async function sendDeletion(target: Target, change: OutgoingChange): Promise<{ version?: string }> {
  const { bucket, key, conditional, requests, signal } = target;
  const input = (ifHeld: Condition): { Key: string } => ({ Key: key, ...ifHeld });
  const remove = (ifHeld: Condition): Promise<unknown> =>
    requests.during(1, () => bucket.ask("DeleteObject", input(ifHeld), signal));
  if (!conditional) return checkedDeletion(target, change, () => remove({}));
  try {
    await remove(condition(target, change));
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    if (isUnknownToServer(error)) return checkedDeletion(target, change, () => remove({}));
    if (!isRefused(error)) throw error;
    if (isMissing(error) || (await head(target)) === undefined) return {}; // it is gone, whoever did it
    throw new PersistentDirConflict([change.path], { cause: error.cause });
  }
  return {};
}

/** For servers that delete without conditions: many that write with them do. */
async function checkedDeletion(
  target: Target,
  change: OutgoingChange,
  remove: () => Promise<unknown>,
): Promise<{ version?: string }> {
  const held = await head(target);
  if (held === undefined) return {};
  if (!isBase(held, change)) throw new PersistentDirConflict([change.path]);
  await remove();
  return {};
}

function condition({ conditional }: Target, { base, path }: OutgoingChange): Condition {
  if (!conditional) return {};
  if (base === undefined) return { IfNoneMatch: "*" };
  if (base.version !== undefined) return { IfMatch: base.version };
  // Nothing to compare with: the load that a conflict asks for brings it.
  throw new PersistentDirConflict([path]);
}

function head({ bucket, key, requests, signal }: Target): Promise<Held> {
  return requests.during(1, () => bucket.askOf("HeadObject", key, signal));
}

/** Whether it is still what the change was made to. Without a version there is nothing to compare. */
function isBase(held: Held, { base }: OutgoingChange): boolean {
  if (held === undefined || base === undefined) return held === undefined && base === undefined;
  return sameVersion(held.ETag, base.version);
}

/** Whether it is our content, by what it says. */
function holds(held: Held, { sha256, bytes }: OutgoingChange): boolean {
  return held !== undefined && held.Metadata?.["sha256"] === sha256 && held.ContentLength === bytes;
}

function versionOf(held: { readonly ETag?: string | undefined } | undefined): { version?: string } {
  return held?.ETag === undefined ? {} : { version: held.ETag };
}
