// What callers of the seam give, checked.
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import type { Guard } from "./access.js";

const MAX_VERSION_LENGTH = 200;

export function textOf(value: unknown, name: string): string {
  if (typeof value !== "string") throw check.invalidOption(name, "a string", value);
  return value;
}

/** What a write is to keep to: `expected`, or what a policy decides. Only undefined is no guard. */
export function guardOf(intent: unknown, name = "expected"): Guard {
  if (intent === undefined) return {};
  const accepted = "{ createIfAbsent: true } or { replaceIfVersion }";
  if (typeof intent !== "object" || intent === null) throw check.invalidOption(name, accepted, intent);
  const { createIfAbsent, replaceIfVersion } = intent as { createIfAbsent?: unknown; replaceIfVersion?: unknown };
  if (createIfAbsent === true && replaceIfVersion === undefined) return { ifNoneMatch: true };
  if (createIfAbsent === undefined && replaceIfVersion !== undefined)
    return { ifVersion: checkVersion(replaceIfVersion, `${name}: replaceIfVersion`) };
  throw check.invalidOption(name, accepted, intent);
}

/** The same of an edit. */
export function versionOf(intent: unknown, name = "expected"): string | undefined {
  if (intent === undefined) return undefined;
  if (typeof intent !== "object" || intent === null) throw check.invalidOption(name, "{ version }", intent);
  return checkVersion((intent as { version?: unknown }).version, `${name}: version`);
}

/** One that is none of ours can only be stale. */
function checkVersion(version: unknown, name: string): string {
  if (typeof version !== "string") throw check.invalidOption(name, "a version that was given before", version);
  if (version.length <= MAX_VERSION_LENGTH && /^[\u0021-\u007e]+$/.test(version)) return version;
  throw new HarnessFileError("FS_STALE_VERSION", "No file has this version");
}
