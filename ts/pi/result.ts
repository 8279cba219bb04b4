// pi's results: a failure is a value with one of eight codes.
import type { FsErrorCode } from "../../index.js";
import type { PiFileError, PiResult } from "../../pi.js";
import { HarnessFileError, toFileError } from "../errors.js";

type PiCode = PiFileError["code"];

const CODES: Partial<Record<FsErrorCode, PiCode>> = {
  FS_ABORTED: "aborted",
  FS_NOT_FOUND: "not_found",
  FS_PERMISSION_DENIED: "permission_denied",
  FS_SANDBOX_DENIED: "permission_denied",
  FS_NOT_DIRECTORY: "not_directory",
  FS_INVALID_PATH: "invalid",
  FS_INVALID_OPTION: "invalid",
  FS_INVALID_CONTENT: "invalid",
  FS_NOT_REGULAR_FILE: "invalid",
  FS_ALREADY_EXISTS: "invalid",
  FS_NOT_TEXT: "invalid",
  FS_TOO_LARGE: "invalid",
};

/** The shape of pi's own. */
export class PiFailure extends Error implements PiFileError {
  // `declare`: absent where no path is known.
  declare readonly path?: string;
  readonly code: PiCode;

  constructor(code: PiCode, message: string, path?: string, cause?: HarnessFileError) {
    super(message, cause && { cause });
    this.code = code;
    // So that the JSON of a result, and a copy, tell it as well.
    Object.defineProperty(this, "message", { enumerable: true });
    if (path !== undefined) this.path = path;
  }

  static {
    const hidden = { writable: true, configurable: true, enumerable: false };
    Object.defineProperty(this.prototype, "name", { value: "FileError", ...hidden });
  }
}

/** Never throws, never rejects. */
export async function result<T>(work: () => Promise<T>): Promise<PiResult<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: told(error) };
  }
}

function told(error: unknown): PiFailure {
  if (error instanceof PiFailure) return error;
  const failure = toFileError(error);
  const { code, message, path } = failure;
  return new PiFailure(CODES[code] ?? "unknown", message, path, failure);
}
