// A write under a guard, with the codes of the seam.
import { HarnessFileError } from "../errors.js";
import type { NativeVersionedWrite } from "../native.js";
import type { Access, Guard } from "./access.js";
import { as, missing } from "./codes.js";

export async function writeGuarded(
  access: Access,
  path: string,
  text: string,
  guard: Guard,
  more: { readonly beforeBytes?: number; readonly signal?: AbortSignal | undefined },
): Promise<NativeVersionedWrite> {
  try {
    return await as("FS_ALREADY_EXISTS", "FS_NOT_OBSERVED", access.write(path, text, guard, more));
  } catch (error) {
    throw (await inTheWay(access, path, error)) ?? error;
  }
}

/** A folder is not there to be read first. */
async function inTheWay(access: Access, path: string, error: unknown): Promise<HarnessFileError | undefined> {
  if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_OBSERVED") return undefined;
  const found = await missing(access.version(path, false));
  if (found === undefined || found.kind === "file" || found.kind === "symlink") return undefined;
  const what = found.kind === "directory" ? "Is a folder, not a file" : "Not a regular file";
  return new HarnessFileError("FS_NOT_REGULAR_FILE", `${what}: ${found.path}`, { path: found.path });
}
