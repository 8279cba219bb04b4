// Entries of listings as lines.
import type { NativeEntry } from "../native.js";

export function entryLine({ path, kind, bytes }: NativeEntry): string {
  switch (kind) {
    case "directory":
      return `${path}/`;
    case "file":
      return `${path}  ${bytes ?? 0} bytes`;
    case "symlink":
      return `${path}  link`;
    default:
      return `${path}  neither file nor folder`;
  }
}
