// Gives a file another path: written there as a whole, then removed here if it is still the same.
import type { Access } from "../file-system/access.js";
import { PiFailure } from "./result.js";

export async function moveFile(
  access: Access,
  from: string,
  to: string,
  signal: { signal?: AbortSignal },
): Promise<void> {
  const { files } = access;
  const { kind, path, mediaType } = await files.stat(from);
  if (kind !== "file") throw new PiFailure("not_supported", `Only a file can be renamed, not a ${kind}: ${path}`, path);
  const [old, other] = await Promise.all([from, to].map((each) => access.target("renameFile", each)));
  // Removed after it was written to itself it would be gone.
  if (old?.key === other?.key) return;
  const { sha256 } = await files.write(to, await files.readStream(from, signal), {
    ...(mediaType !== undefined && { mediaType }),
    ...signal,
  });
  await files.remove(from, { ifMatch: sha256 });
}
