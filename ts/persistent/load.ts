// Brings in what changed in a dir's store. What is uncommitted stays.
import { settled } from "../cancellation.js";
import type { NativeDir, NativeLoaded } from "../native.js";
import { cursorText, parseCursor } from "./cursor.js";
import { type Call, type Dir, type DirSession, contextOf } from "./dir.js";
import { loadFailed } from "./failure.js";
import { inside } from "./inside.js";
import { LoadUnderWay } from "./loading.js";
import type { Store } from "./store.js";
import { durationMs, tell } from "./tell.js";

/** `needed`: paths whose uncommitted changes yield to the store's content. The dir is open with its source. */
export async function load(
  session: DirSession,
  dir: Dir,
  call: Call,
  native: NativeDir,
  scope: string,
  needed: readonly string[] = [],
): Promise<void> {
  const since = performance.now();
  let loaded: NativeLoaded;
  try {
    loaded =
      "store" in dir.behind
        ? await loadStore(session, dir, dir.behind.store, call, native, scope, needed)
        : settled(await native.loadLocal([...needed], call.cancellation?.native), call.cancellation);
  } catch (error) {
    throw loadFailed(dir.harnessDir, error);
  }
  const { files, bytes, created, updated, deleted, conflicts, skipped } = loaded;
  await tell(session, dir, call, "harness.persistent_dir.loaded", {
    durationMs: durationMs(since),
    fileCount: files,
    bytes,
    changeCounts: { created, updated, deleted },
    conflicts,
    skipped,
  });
}

/** A callback that does not heed its signal is given up: what it still brings is refused. */
async function loadStore(
  session: DirSession,
  dir: Dir,
  store: Store,
  call: Call,
  native: NativeDir,
  scope: string,
  needed: readonly string[],
): Promise<NativeLoaded> {
  const { cancellation } = call;
  cancellation?.check();
  const underWay = new LoadUnderWay(native, await parseCursor(native.cursor), needed, session, cancellation);
  try {
    const context = contextOf(session, dir, call);
    const running = inside(session.key, dir.harnessDir, () => store.load(context, underWay, scope));
    const { cursor } = await (cancellation === undefined ? running : Promise.race([running, cancellation.aborted]));
    return await underWay.finish(await cursorText(cursor));
  } catch (error) {
    await underWay.abort();
    cancellation?.check();
    throw error;
  }
}
