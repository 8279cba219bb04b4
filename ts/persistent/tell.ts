// The events of Persistent Dirs.
import type { HarnessFileEventType } from "../../index.js";
import { type Call, type Dir, type DirSession, kindOf } from "./dir.js";

/** Delivered at once, to be told while a callback runs. An event that cannot be traced changes nothing. */
export async function tell(
  session: DirSession,
  dir: Dir,
  { turnId }: Call,
  type: HarnessFileEventType,
  fields: Record<string, unknown>,
): Promise<void> {
  const metadata = { harnessDir: dir.harnessDir, kind: kindOf(dir), ...fields };
  await session.native.emit(type, JSON.stringify(metadata), turnId);
  session.events.drain();
}

export function durationMs(since: number): number {
  return Math.round((performance.now() - since) * 1000) / 1000;
}
