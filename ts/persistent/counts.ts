// Changes in numbers, and as events name them.
import type { PersistentDirCommitResult } from "../../index.js";
import type { NativeChange } from "../native.js";
import { type Dir, whole } from "./dir.js";

export type Counts = NonNullable<PersistentDirCommitResult["changes"]>;

/** In one event; `changeCounts` counts them all. */
const MAX_TOLD = 200;

export function noCounts(): Counts {
  return { created: 0, updated: 0, deleted: 0 };
}

export function counted(changes: readonly NativeChange[]): Counts {
  const counts = noCounts();
  for (const { change } of changes) counts[change]++;
  return counts;
}

export function named(dir: Dir, changes: readonly NativeChange[]): unknown[] {
  return changes
    .slice(0, MAX_TOLD)
    .map(({ path, change, bytes, sha256 }) => ({ path: whole(dir, path), change, bytes, sha256 }));
}
