// What a store throws when its files changed underneath.
import { invalidOption } from "../check.js";

export class PersistentDirConflict extends Error {
  readonly paths: readonly string[];

  constructor(paths: readonly string[], options?: ErrorOptions) {
    const known = Array.isArray(paths) && paths.every((path) => typeof path === "string");
    if (!known) throw invalidOption("paths", "an array of the paths that changed", paths);
    super(`The store changed: ${paths.slice(0, 5).join(", ")}${paths.length > 5 ? ", …" : ""}`, options);
    this.name = "PersistentDirConflict";
    this.paths = [...paths];
  }
}

/** Of another copy of the package will do. */
export function isConflict(error: unknown): error is PersistentDirConflict {
  if (error instanceof PersistentDirConflict) return true;
  if (typeof error !== "object" || error === null) return false;
  const { name, paths } = error as Partial<PersistentDirConflict>;
  return name === "PersistentDirConflict" && Array.isArray(paths);
}
