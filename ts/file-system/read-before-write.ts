// The policy that a file must have been seen before it is changed. It knows versions, and nothing of files.
import type { FsVersion, FsWriteIntent, ObservationPolicy } from "../../tools.js";
import { HarnessFileError } from "../errors.js";

type Observation = { present: FsVersion } | { absent: true };

export function readBeforeWrite(): ObservationPolicy {
  /** By actor, held weakly, then by target. */
  const seen = new WeakMap<object, Map<string, Observation>>();

  return {
    writeIntent({ targetKey }, actor): FsWriteIntent {
      const known = seen.get(actor)?.get(targetKey);
      return known !== undefined && "present" in known ? { replaceIfVersion: known.present } : { createIfAbsent: true };
    },

    editIntent({ targetKey, displayPath }, actor): { version: FsVersion } {
      const known = seen.get(actor)?.get(targetKey);
      if (known === undefined) {
        throw new HarnessFileError("FS_NOT_OBSERVED", `${displayPath} has not been read yet`, { path: displayPath });
      }
      if ("absent" in known) {
        throw new HarnessFileError("FS_NOT_FOUND", `No such file: ${displayPath} (ENOENT)`, { path: displayPath });
      }
      return { version: known.present };
    },

    observed({ targetKey }, observation, actor): void {
      if (typeof actor !== "object" || actor === null) return; // nobody's view: only new files then
      let mine = seen.get(actor);
      if (mine === undefined) seen.set(actor, (mine = new Map()));
      mine.set(targetKey, observation);
    },
  };
}
