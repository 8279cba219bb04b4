// A file in a folder of the host that the developer named: whole or not at all, for its owner only.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Neither leads elsewhere nor waits for a writer, whoever else works in the folder. Windows has neither. */
const PLAIN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Of at most `maxBytes`; throws for anything else than a file. */
export async function readHostFile(folder: string, name: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = await open(join(folder, name), PLAIN);
    try {
      const stat = await file.stat();
      if (!stat.isFile() || stat.size > maxBytes) throw new Error("This is no plan file");
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (Reflect.get(error as object, "code") === "ENOENT") return undefined;
    throw error;
  }
}

export async function writeHostFile(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const staged = join(folder, `.${randomUUID()}.tmp`);
  try {
    const file = await open(staged, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staged, join(folder, name));
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}
