// The option `persistentDirs` of `localHost`.
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import type { NativePersistentDir } from "../native.js";
import { CallbackFiles } from "./callback-files.js";
import { CallbackMap } from "./callback-map.js";
import type { Dir } from "./dir.js";
import { type Callbacks, type Declaration, declarationOf } from "./dirs.js";
import { fixedSource } from "./source.js";
import type { Store } from "./store.js";

export function hostDirs(options: check.Options): Dir[] {
  const given = options["persistentDirs"];
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw check.invalidOption("persistentDirs", "an array of Persistent Dirs", given);
  const dirs = (given as unknown[]).map((dir, index): Dir => {
    const declaration = declarationOf(dir);
    if (declaration === undefined) {
      const message = `persistentDirs[${index}] was made by none of localDir, customDir, s3Dir and postgresDir`;
      throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "persistentDirs" } });
    }
    const { harnessDir, commit } = declaration;
    return { index, harnessDir, commit, behind: resolved(declaration) };
  });
  checkApart(dirs);
  return dirs;
}

/** Of local dirs the addon sees to it, which knows links. */
function checkApart(dirs: readonly Dir[]): void {
  const stores = dirs.flatMap(({ harnessDir, behind }) =>
    "store" in behind ? [{ harnessDir, store: behind.store }] : [],
  );
  for (const [at, { harnessDir, store }] of stores.entries()) {
    const other = stores.slice(0, at).find((before) => store.overlaps?.(before.store) === true);
    if (other === undefined) continue;
    const message = `What is behind ${other.harnessDir} and ${harnessDir} overlaps: two Persistent Dirs of a host cannot share a place in a store`;
    throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "persistentDirs" } });
  }
}

function resolved({ behind }: Declaration): Dir["behind"] {
  return "callbacks" in behind ? { store: callbackStore(behind.callbacks) } : behind;
}

function callbackStore(callbacks: Callbacks): Store {
  return "load" in callbacks ? new CallbackMap(callbacks) : new CallbackFiles(callbacks);
}

export function nativeDir({ harnessDir, commit, behind }: Dir): NativePersistentDir {
  const source = "sourceDir" in behind ? fixedSource(behind.sourceDir) : undefined;
  return {
    harnessDir,
    readOnly: commit === "read-only",
    local: "sourceDir" in behind,
    ...(source !== undefined && { source }),
  };
}
