// What callers of the seam give, checked.
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import type { Guard } from "./access.js";

const MAX_VERSION_LENGTH = 200;

export function textOf(value: unknown, name: string): string {
  if (typeof value !== "string") throw check.invalidOption(name, "a string", value);
  return value;
}

/** `expected` of a write. */
export function guardOf(options: check.Options): Guard {
  const expected = options["expected"];
  if (expected === undefined) return {};
  const accepted = "{ createIfAbsent: true } or { replaceIfVersion }";
  if (typeof expected !== "object" || expected === null) throw check.invalidOption("expected", accepted, expected);
  const { createIfAbsent, replaceIfVersion } = expected as { createIfAbsent?: unknown; replaceIfVersion?: unknown };
  if (createIfAbsent === true && replaceIfVersion === undefined) return { ifNoneMatch: true };
  if (createIfAbsent === undefined && replaceIfVersion !== undefined)
    return { ifVersion: checkVersion(replaceIfVersion) };
  throw check.invalidOption("expected", accepted, expected);
}

/** `expected` of an edit. */
export function versionOf(options: check.Options): string | undefined {
  const expected = options["expected"];
  if (expected === undefined) return undefined;
  if (typeof expected !== "object" || expected === null) throw check.invalidOption("expected", "{ version }", expected);
  return checkVersion((expected as { version?: unknown }).version);
}

/** One that is none of ours can only be stale. */
function checkVersion(version: unknown): string {
  if (typeof version !== "string") throw check.invalidOption("version", "a version that was given before", version);
  if (version.length <= MAX_VERSION_LENGTH && /^[\u0021-\u007e]+$/.test(version)) return version;
  throw new HarnessFileError("FS_STALE_VERSION", "This is no version that a file has");
}
