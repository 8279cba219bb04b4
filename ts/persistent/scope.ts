// The scope of a `customDir` that names none: another `extraBody` is another source.
import { createHash } from "node:crypto";
import { ignore } from "../cancellation.js";
import { HarnessFileError, describe } from "../errors.js";
import { type Form, strict } from "../json/form.js";
import { JsonText } from "../json/json-text.js";
import { Pace } from "../pace.js";
import { Batch, type Filled } from "../source/batch.js";

const MAX_LENGTH = 1024;

/** Of the JSON with sorted keys, so that the order in which a body was put together does not count. In slices. */
export async function defaultScope(extraBody: unknown): Promise<string> {
  if (extraBody === undefined) return "";
  const hash = createHash("sha256");
  const [text, batch, pace] = [new JsonText(extraBody, sorted), new Batch(), new Pace()];
  try {
    for (let filled: Filled = "pause"; filled !== "end";) {
      batch.length = 0;
      filled = text.into(batch);
      hash.update(batch.filled);
      if (pace.dueNow()) await pace.turn();
    }
  } catch (cause) {
    throw noScope(cause);
  }
  return hash.digest("hex");
}

const sorted: Form = {
  ...strict,
  compactFrom: 0,
  settle(value, key) {
    const settled = strict.settle(value, key);
    if (typeof settled !== "object" || settled === null || Array.isArray(settled)) return settled;
    const copy = Object.create(null) as Record<string, unknown>;
    for (const name of Object.keys(settled).sort()) copy[name] = (settled as Record<string, unknown>)[name];
    return copy;
  },
};

function noScope(cause: unknown): HarnessFileError {
  const message = "extraBody has no JSON to tell one store from another by. Give the dir a `scope`";
  return new HarnessFileError("FS_INVALID_OPTION", message, { cause });
}

export function checkScope(scope: unknown): string {
  if (typeof scope === "string" && scope !== "" && scope.length <= MAX_LENGTH && scope.isWellFormed()) return scope;
  if (scope instanceof Promise) scope.catch(ignore); // nobody else waits for it
  const message = `scope must give a string of 1 to ${MAX_LENGTH} characters, not ${describe(scope)}`;
  throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "scope" } });
}
