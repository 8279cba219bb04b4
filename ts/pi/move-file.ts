// Gives a file another path: written there as a whole, then removed here if it is still the same.
import type { FileWriter } from "../../index.js";
import { PiFailure } from "./result.js";

export async function moveFile(files: FileWriter, from: string, to: string): Promise<void> {
  const { kind, path, mediaType } = await files.stat(from);
  if (kind !== "file") throw new PiFailure("not_supported", `Only a file can be renamed, not a ${kind}: ${path}`, path);
  const { sha256 } = await files.write(to, await files.readStream(from), {
    ...(mediaType !== undefined && { mediaType }),
  });
  await files.remove(from, { ifMatch: sha256 });
}
