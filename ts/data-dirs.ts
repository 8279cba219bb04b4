// Which copy of the package has which dataDir open in this process. Two copies bring two SQLites, and the locks of a process
// go when either of them closes the database: so a dataDir is one copy's at a time.
import { statSync } from "node:fs";
import { HarnessFileError } from "./errors.js";
import type { Addon } from "./native.js";

interface Holder {
  readonly addon: object;
  hosts: number;
}

const KEY = Symbol.for("@little-stack/files.dataDirs");

function holders(): Map<string, Holder> {
  const shared = globalThis as { [KEY]?: Map<string, Holder> };
  return (shared[KEY] ??= new Map());
}

/** FS_BUSY when another copy has the folder open. Asked before opening: opening alone would already do the harm. */
export function checkFree(dataDir: string, addon: Addon): void {
  const identity = identityOf(dataDir);
  if (identity !== undefined) checkHolder(identity, addon);
}

function identityOf(dataDir: string): string | undefined {
  try {
    const { dev, ino } = statSync(dataDir, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // not there, so nobody's; what else may be wrong with it shows when it is opened
  }
}

function checkHolder(identity: string, addon: Addon): void {
  const holder = holders().get(identity);
  if (holder === undefined || holder.addon === addon.NativeHost) return;
  const message =
    "Another copy of this package has this dataDir open in this process. Use one copy, or close its host first.";
  throw new HarnessFileError("FS_BUSY", message);
}

/** Notes a host that was opened; gives what takes the note away. */
export function hold(identity: string, addon: Addon): () => void {
  checkHolder(identity, addon);
  const holder = holders().get(identity) ?? { addon: addon.NativeHost, hosts: 0 };
  holders().set(identity, holder);
  holder.hosts++;
  return () => {
    holder.hosts--;
    if (holder.hosts === 0) holders().delete(identity);
  };
}
