// Opens a dir for one operation, and lets go of it whichever way that ends.
import { settled } from "../cancellation.js";
import type { NativeDir, NativeSource } from "../native.js";
import type { Call, Dir, DirSession } from "./dir.js";
import { sourceOf } from "./source.js";

/** Only the checkout; its source may be gone. */
export function withCheckout<R>(
  session: DirSession,
  dir: Dir,
  call: Call,
  work: (native: NativeDir) => Promise<R>,
): Promise<R> {
  return opened(session, dir, call, null, work);
}

/**
 * Its source as well. FS_CONFLICT when the checkout has pending changes for another one. `scope`: of a store, asked for once: all that
 * is done goes to what was compared here. "" for a local dir.
 */
export async function withSource<R>(
  session: DirSession,
  dir: Dir,
  call: Call,
  purpose: "load" | "commit",
  work: (native: NativeDir, scope: string) => Promise<R>,
): Promise<R> {
  const source = await sourceOf(session, dir, call, purpose === "commit");
  return opened(session, dir, call, source, (native) => work(native, source.scope ?? ""));
}

async function opened<R>(
  { native: session }: DirSession,
  { index }: Dir,
  { cancellation }: Call,
  source: NativeSource | null,
  work: (native: NativeDir) => Promise<R>,
): Promise<R> {
  const native = settled(await session.openDir(index, source, cancellation?.native), cancellation);
  try {
    return await work(native);
  } finally {
    native.release();
  }
}
