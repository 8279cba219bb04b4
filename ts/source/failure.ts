import { HarnessFileError, nameOf } from "../errors.js";

/** Of sources of our own: they are told as they are. */
const own = new WeakSet<object>();

/** What a source of our own throws. */
export function malformed(message: string): HarnessFileError {
  const error = new HarnessFileError("FS_INVALID_CONTENT", message);
  own.add(error);
  return error;
}

/** A source that failed. Its own error is the cause, untouched; its text is not repeated, since it may hold host paths. */
export function sourceFailed(cause: unknown): HarnessFileError {
  if (cause instanceof HarnessFileError && own.has(cause)) return cause;
  return new HarnessFileError("FS_INVALID_CONTENT", `The content's source failed (${nameOf(cause)})`, { cause });
}
