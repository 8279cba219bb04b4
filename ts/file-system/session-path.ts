// Paths of systems that have a working folder: relative ones are below /session.
import { checkPath } from "../file-options.js";

export const WORKING_FOLDER = "/session";

/** "." segments are left to the grammar, which drops them, and ".." as well, which it refuses. */
export function sessionPath(path: unknown): string {
  const checked = checkPath(path);
  return checked.startsWith("/") ? checked : `${WORKING_FOLDER}/${checked}`;
}
