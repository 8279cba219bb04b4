// A folder, with those above it or alone.
import { HarnessFileError } from "../errors.js";
import type { Access } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";

export async function createDir(access: Access, given: string, recursive: boolean): Promise<void> {
  const path = await access.addressed("createDir", given);
  if (!recursive) return createAlone(access, path);
  // Also a root, which nobody can make.
  const found = await missing(access.version(path, true));
  if (found?.kind !== "directory") await access.makeFolder(path);
}

async function createAlone(access: Access, path: string): Promise<void> {
  if ((await missing(access.version(path, false))) !== undefined)
    throw new HarnessFileError("FS_ALREADY_EXISTS", `Something is already there: ${path}`, { path });
  await access.version(path.slice(0, path.lastIndexOf("/")), true);
  await access.makeFolder(path);
}
