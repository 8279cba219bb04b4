// For programs that are started as root: they load the package, and go on as a user whom modes hold back.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { localHost } from "@little-stack/files";

export const NOBODY = 65534;

export async function becomeNobody() {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "little-files-load-"));
  await localHost({ dataDir: scratch }).close(); // the addon may lie where only root can read
  fs.rmSync(scratch, { recursive: true, force: true });
  process.setgroups([]);
  process.setgid(NOBODY);
  process.setuid(NOBODY);
}

/** A dataDir of theirs in `base`. */
export function dataDirOfNobody(base) {
  const dataDir = path.join(base, "data");
  fs.mkdirSync(dataDir, { mode: 0o700 });
  for (const folder of [dataDir, base]) fs.chownSync(folder, NOBODY, NOBODY);
  return dataDir;
}
