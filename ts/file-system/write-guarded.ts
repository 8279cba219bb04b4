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

/** Neither a folder nor a link is there to be read first: that would lead to the same refusal again and again. */
async function inTheWay(access: Access, path: string, error: unknown): Promise<HarnessFileError | undefined> {
  if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_OBSERVED") return undefined;
  const found = await missing(access.version(path, false));
  if (found === undefined || found.kind === "file") return undefined;
  if (found.kind === "symlink") {
    const text = `${found.path} is a symbolic link; it is not written through. Remove it, or write to another path.`;
    return new HarnessFileError("FS_NOT_OBSERVED", text, { path: found.path, reason: "symlink" });
  }
  const what = found.kind === "directory" ? "Is a folder, not a file" : "Not a regular file";
  return new HarnessFileError("FS_NOT_REGULAR_FILE", `${what}: ${found.path}`, { path: found.path });
}
