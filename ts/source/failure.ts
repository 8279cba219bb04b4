import { HarnessFileError, nameOf } from "../errors.js";

/** A source that failed. Its own error is the cause, untouched; its text is not repeated, since it may hold host paths. */
export function sourceFailed(cause: unknown): HarnessFileError {
  return new HarnessFileError("FS_INVALID_CONTENT", `The content's source failed (${nameOf(cause)})`, { cause });
}
