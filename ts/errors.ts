// The one error of the package, and how failures that cross from the addon become one.
import type { FsErrorCode, HarnessFileError as Contract } from "../index.js";
import type { Failure, FailureInfo } from "./native.js";

/** By a registered symbol, so that another copy of the package knows our errors. */
const BRAND = Symbol.for("@little-stack/files.HarnessFileError");
const MAX_MESSAGE_BYTES = 2048;
/** Kept of the end of a longer message, where what to do stands. */
const MAX_ENDING = 120;
const MAX_SHOWN_PATH = 4096;

export interface ErrorFields {
  path?: string | undefined;
  osCode?: string | undefined;
  reason?: Contract["reason"] | undefined;
  details?: Record<string, unknown> | undefined;
  cause?: unknown;
}

export class HarnessFileError extends Error implements Contract {
  // `declare`: a field that has no value is absent.
  declare readonly path?: string;
  declare readonly osCode?: string;
  declare readonly reason?: NonNullable<Contract["reason"]>;
  declare readonly details?: Record<string, unknown>;
  readonly code: FsErrorCode;

  constructor(code: FsErrorCode, message: string, fields: ErrorFields = {}) {
    super(boundedMessage(code, message), "cause" in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    for (const name of ["path", "osCode", "reason", "details"] as const) {
      if (fields[name] !== undefined) Object.assign(this, { [name]: fields[name] });
    }
  }

  static {
    const hidden = { writable: true, configurable: true, enumerable: false };
    Object.defineProperty(this.prototype, "name", { value: "HarnessFileError", ...hidden });
    Object.defineProperty(this.prototype, BRAND, { value: true, ...hidden });
  }

  static isInstance(value: unknown): value is HarnessFileError {
    try {
      return typeof value === "object" && value !== null && Reflect.get(value, BRAND) === true;
    } catch {
      return false; // a proxy that throws is none of ours
    }
  }
}

/** Messages reach models and terminals: well-formed, no control characters, and cut in the middle on whole characters. */
function boundedMessage(code: FsErrorCode, message: string): string {
  const prefix = `[${code}] `;
  const text = printable(message.startsWith(prefix) ? message : prefix + message);
  if (Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  const ending = `…${text.slice(-MAX_ENDING).replace(/^[\udc00-\udfff]/, "")}`;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_MESSAGE_BYTES - Buffer.byteLength(ending)));
  return text.slice(0, read) + ending;
}

export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

export function isFailure(result: unknown): result is Failure {
  return typeof result === "object" && result !== null && "failure" in result;
}

/** The value of a native call, or its failure as an error. */
export function unwrap<T>(result: T | Failure): T {
  if (isFailure(result)) throw fromFailure(result.failure);
  return result;
}

function fromFailure(failure: FailureInfo): HarnessFileError {
  const { code, message, path, osCode, reason, details } = failure;
  return new HarnessFileError(code as FsErrorCode, message, {
    path,
    osCode,
    reason: reason as Contract["reason"],
    details: details === undefined ? undefined : (JSON.parse(details) as Record<string, unknown>),
  });
}

/** For the addon, which traces refusals. */
export function toFailure(error: HarnessFileError): FailureInfo {
  const { code, message, path, osCode, reason, details } = error;
  return {
    code,
    message,
    ...(path !== undefined && { path }),
    ...(osCode !== undefined && { osCode }),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details: JSON.stringify(details) }),
  };
}

/** Nothing escapes raw: what is not coded yet was not foreseen, and says so. */
export function toFileError(error: unknown): HarnessFileError {
  if (error instanceof HarnessFileError) return error;
  return new HarnessFileError("FS_IO_ERROR", `Unexpected failure (${nameOf(error)})`, { cause: error });
}

/** An error that was made before the path was looked at, with the path. */
export function located(error: HarnessFileError, path: unknown): HarnessFileError {
  const shown = typeof path === "string" && path.length <= MAX_SHOWN_PATH && path.isWellFormed();
  if (error.path !== undefined || !shown) return error;
  const { code, osCode, reason, details } = error;
  return new HarnessFileError(code, `${error.message.replace(/\.$/, "")}: ${path}`, {
    path,
    osCode,
    reason,
    details,
    ...("cause" in error && { cause: error.cause }),
  });
}

/** The class or code of a foreign error; its text may hold host paths and is left to `cause`. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return describe(error);
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code)
    ? `${error.name}, ${code}`
    : String(error.name).slice(0, 64);
}

/** What a value is, in words, for messages that refuse it. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  try {
    if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
    const tag = Object.prototype.toString.call(value).slice(8, -1).slice(0, 40);
    return tag === "Object" ? "an object" : `a value of type ${tag}`;
  } catch {
    return "an object that cannot be looked at"; // a revoked proxy, a getter that throws
  }
}
