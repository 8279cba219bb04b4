// Checks of single options. Each reads its option once and says which one it was and what is accepted.
import { HarnessFileError, describe, nameOf } from "./errors.js";

export type Options = Readonly<Record<string, unknown>>;

const MAX_JSON_BYTES = 64 * 1024;
const MAX_JSON_DEPTH = 100;
/** More entries than any listing has, and safe in every integer type on the other side. */
const MAX_LIMIT = 2 ** 31 - 1;
/** Of a word that was given instead of an accepted one. */
const MAX_SHOWN = 40;

export function invalidOption(name: string, accepted: string, value: unknown): HarnessFileError {
  return refusal(name, `${name} must be ${accepted}, not ${describe(value)}`);
}

function refusal(option: string, message: string, cause?: unknown): HarnessFileError {
  return new HarnessFileError("FS_INVALID_OPTION", message, {
    details: { option },
    ...(cause !== undefined && { cause }),
  });
}

/** Runs `read` over the caller's options; what a getter of theirs throws is an invalid option as well. */
export function readOptions<T>(options: unknown, read: (options: Options) => T, name = "options"): T {
  try {
    if (options !== undefined && (typeof options !== "object" || options === null || Array.isArray(options))) {
      throw invalidOption(name, "an object", options);
    }
    return read((options ?? {}) as Options);
  } catch (error) {
    if (error instanceof HarnessFileError) throw error;
    throw new HarnessFileError("FS_INVALID_OPTION", `The ${name} cannot be read`, { cause: error });
  }
}

export function flag(options: Options, name: string): boolean {
  const value = options[name];
  if (value !== undefined && typeof value !== "boolean") throw invalidOption(name, "a boolean", value);
  return value ?? false;
}

export function oneOf<const T extends string>(options: Options, name: string, accepted: readonly T[]): T | undefined {
  const value = options[name];
  if (value === undefined || accepted.includes(value as T)) return value as T | undefined;
  const words = accepted.map((each) => JSON.stringify(each)).join(" or ");
  // A word that is none of them is shown itself.
  const given = typeof value === "string" ? JSON.stringify(value.slice(0, MAX_SHOWN)) : describe(value);
  throw refusal(name, `${name} must be ${words}, not ${given}`);
}

/** A short string for people: not empty, without control characters. */
export function label(options: Options, name: string, maxLength: number): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  // eslint-disable-next-line no-control-regex
  if (
    typeof value === "string" &&
    value.length <= maxLength &&
    isText(value) &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  ) {
    return value;
  }
  throw invalidOption(
    name,
    `a string of 1 to ${maxLength} characters without control characters or lone surrogates`,
    value,
  );
}

/** A string that only has to be one: not empty, and the same on the other side. */
export function text(options: Options, name: string, maxLength: number): string | undefined {
  const value = options[name];
  if (value === undefined || (typeof value === "string" && value.length <= maxLength && isText(value))) return value;
  throw invalidOption(name, `a string of 1 to ${maxLength} characters without lone surrogates`, value);
}

function isText(value: string): boolean {
  return value !== "" && value.isWellFormed();
}

export function count(options: Options, name: string): number | undefined {
  const value = options[name];
  if (value === undefined || isCount(value)) return value;
  throw invalidOption(name, "an integer of 0 or more", value);
}

export function limit(options: Options): number | undefined {
  const value = options["limit"];
  if (value === undefined) return undefined;
  if (isCount(value) && value > 0) return Math.min(value, MAX_LIMIT);
  throw invalidOption("limit", "an integer of 1 or more", value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function range(options: Options): { start?: number; end?: number } {
  const value = options["range"];
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidOption("range", "an object { start?, end? }", value);
  }
  const start = count(value as Options, "start");
  const end = count(value as Options, "end");
  if (start !== undefined && end !== undefined && start > end) {
    throw refusal("range", `range.start (${start}) must not be after range.end (${end})`);
  }
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

/** Structural: a signal of another realm or a polyfill will do. */
export function signal(options: Options): AbortSignal | undefined {
  const value = options["signal"];
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null) {
    const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
    const listens = typeof addEventListener === "function" && typeof removeEventListener === "function";
    if (typeof aborted === "boolean" && listens) return value as AbortSignal;
  }
  throw invalidOption("signal", "an AbortSignal", value);
}

export function sha256(options: Options, name: string): string | undefined {
  const value = options[name];
  if (value === undefined || (typeof value === "string" && /^[0-9a-f]{64}$/.test(value))) return value;
  throw invalidOption(name, "a sha256 as 64 lower-case hex digits", value);
}

/** Compact JSON text of a plain object, bounded in size before it is made and in depth after. */
export function jsonObject(options: Options, name: string): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const accepted = `a plain object of at most 64 KiB of JSON and ${MAX_JSON_DEPTH} levels`;
  if (!isPlainObject(value)) throw invalidOption(name, accepted, value);
  const unfit = (why: string, cause?: unknown): HarnessFileError =>
    refusal(name, `${name} must be ${accepted}: this one ${why}`, cause);
  let json: string | undefined;
  try {
    json = boundedJson(value);
  } catch (cause) {
    throw cause === TOO_LARGE ? unfit("is larger") : unfit(`has no JSON (${nameOf(cause)})`, cause);
  }
  if (!json?.startsWith("{")) throw unfit("has a toJSON that makes something else of it");
  if (Buffer.byteLength(json) > MAX_JSON_BYTES) throw unfit("is larger");
  if (depthOf(json) > MAX_JSON_DEPTH) throw unfit("is deeper");
  return json;
}

const TOO_LARGE = new RangeError("more than 64 KiB");

function boundedJson(value: object): string | undefined {
  let budget = MAX_JSON_BYTES;
  return JSON.stringify(value, (key, inner: unknown) => {
    budget -= key.length + (typeof inner === "string" ? inner.length : 1);
    if (budget < 0) throw TOO_LARGE;
    return inner;
  });
}

/** Plain in every realm: no prototype, or one that has none. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}

export function sessionId(value: unknown, name = "id"): string {
  if (typeof value === "string" && value.length <= 1024 && isText(value) && Buffer.byteLength(value) <= 1024)
    return value;
  throw invalidOption(name, "a string of 1 to 1,024 bytes without lone surrogates", value);
}

/** What is called: a TypeError of the engine would say neither what it was nor where. */
export function callable(value: unknown, name: string): void {
  if (typeof value !== "function") throw invalidOption(name, "a function", value);
}
