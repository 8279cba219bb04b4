// The scope of a `customDir` that names none: another `extraBody` is another source.
import { createHash } from "node:crypto";
import { ignore } from "../cancellation.js";
import { HarnessFileError, describe } from "../errors.js";

const MAX_LENGTH = 1024;

/** Of the JSON with sorted keys, so that the order in which a body was put together does not count. */
export function defaultScope(extraBody: unknown): string {
  if (extraBody === undefined) return "";
  let json: string | undefined;
  try {
    json = JSON.stringify(extraBody, sorted);
  } catch (cause) {
    throw noScope(cause);
  }
  if (json === undefined) throw noScope();
  return createHash("sha256").update(json).digest("hex");
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value).sort()) copy[key] = (value as Record<string, unknown>)[key];
  return copy;
}

function noScope(cause?: unknown): HarnessFileError {
  const message = "extraBody has no JSON to tell one store from another by. Give the dir a `scope`";
  return new HarnessFileError("FS_INVALID_OPTION", message, cause === undefined ? {} : { cause });
}

export function checkScope(scope: unknown): string {
  if (typeof scope === "string" && scope !== "" && scope.length <= MAX_LENGTH && scope.isWellFormed()) return scope;
  if (scope instanceof Promise) scope.catch(ignore); // nobody else waits for it
  const message = `scope must give a string of 1 to ${MAX_LENGTH} characters, not ${describe(scope)}`;
  throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "scope" } });
}
