// Makes a folder and those above it: a file is written into it, and removed again.
import { randomUUID } from "node:crypto";
import type { Access } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";

export async function makeDir(access: Access, path: string): Promise<string> {
  const found = await missing(access.version(path, false));
  if (found?.kind === "directory") return found.path;
  const { path: made } = await access.files.write(`${path}/.${randomUUID()}`, "");
  await access.files.remove(made);
  return made.slice(0, made.lastIndexOf("/"));
}
