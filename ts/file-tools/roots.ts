// Where a search goes that names no folder: into all roots.
import { HarnessFileError } from "../errors.js";

const ROOTS = ["/session", "/artifacts", "/persistent"] as const;

/** What `search` gives for the folder, or for each root that there is. */
export async function inRoots<T>(path: string | undefined, search: (folder: string) => Promise<T>): Promise<T[]> {
  if (path !== undefined) return [await search(path)];
  const found: T[] = [];
  for (const root of ROOTS) {
    try {
      found.push(await search(root));
    } catch (error) {
      const absent = error instanceof HarnessFileError && /^FS_(SANDBOX_DENIED|NOT_FOUND)$/.test(error.code);
      if (!absent) throw error;
    }
  }
  return found;
}
