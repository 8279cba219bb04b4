import { HarnessFileError, textOf } from "../errors.js";

/** A source that failed. Its own error is the cause, untouched. */
export function sourceFailed(cause: unknown): HarnessFileError {
  return new HarnessFileError("FS_INVALID_CONTENT", `The content's source failed (${textOf(cause)})`, { cause });
}
