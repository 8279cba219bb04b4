// The cursor of a store: any JSON value. It is kept as JSON text.
import { HarnessFileError, describe } from "../errors.js";

/** Without a cursor there is no text. */
export function cursorText(cursor: unknown): string | null {
  if (cursor === undefined) return null;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(cursor);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  const message = `The cursor must be a value that JSON can hold, not ${describe(cursor)}`;
  throw new HarnessFileError("FS_INVALID_OPTION", message, cause === undefined ? {} : { cause });
}

export function parseCursor(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}
