// The cursor of a store: any JSON value. It is kept as JSON text.
import { HarnessFileError, describe } from "../errors.js";
import { strict } from "../json/form.js";
import { parsed } from "../json/parsed.js";
import { statedText } from "../tools/inline-form.js";

const compact = { ...strict, compactFrom: 0 };

/** Without a cursor there is no text. A large one is written in slices. */
export async function cursorText(cursor: unknown): Promise<string | null> {
  if (cursor === undefined) return null;
  try {
    return (await statedText(cursor, compact, Infinity)).bytes.toString();
  } catch (cause) {
    const message = `The cursor must be a value that JSON can hold, not ${describe(cursor)}`;
    throw new HarnessFileError("FS_INVALID_OPTION", message, { cause });
  }
}

export async function parseCursor(text: string | null): Promise<unknown> {
  return text === null ? undefined : parsed(text);
}
