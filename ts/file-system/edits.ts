// Literal edits, checked and brought into the shape the addon takes.
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import type { NativeEdit } from "../native.js";

const MAX_EDITS = 1000;

export function editsOf(edits: unknown): NativeEdit[] {
  if (!Array.isArray(edits) || edits.length === 0 || edits.length > MAX_EDITS) {
    throw check.invalidOption("edits", `an array of 1 to ${MAX_EDITS} edits`, edits);
  }
  return edits.map((edit: unknown, at) => {
    if (typeof edit !== "object" || edit === null) throw check.invalidOption(`edits[${at}]`, "an edit", edit);
    const given = edit as check.Options;
    return {
      oldString: oldText(given["oldString"], at),
      newString: text(given["newString"], `edits[${at}].newString`).toWellFormed(),
      replaceAll: check.flag(given, "replaceAll"),
    };
  });
}

/** Nothing matches an empty text, nor does half a character stand in a file that is text. */
function oldText(value: unknown, at: number): string {
  const old = text(value, `edits[${at}].oldString`);
  if (old !== "" && old.isWellFormed()) return old;
  const why = old === "" ? "is empty" : "holds half a character";
  throw new HarnessFileError("FS_EDIT_NOT_FOUND", `The text to replace ${why}, so it is nowhere in the file`);
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw check.invalidOption(name, "a string", value);
  return value;
}
