// A file in a folder of the host that the developer named: whole or not at all, for its owner only.
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export async function readHostFile(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), "utf8");
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
