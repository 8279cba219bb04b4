// pi's results: a failure is a value with one of eight codes.
import type { FsErrorCode } from "../../index.js";
import type { PiResult } from "../../pi.js";
import { HarnessFileError, toFileError } from "../errors.js";

type PiCode = Extract<PiResult<never>, { ok: false }>["error"]["code"];

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

/** What pi has a code for, and we have none. */
export class PiFailure extends Error {
  readonly code: PiCode;
  readonly path: string;

  constructor(code: PiCode, message: string, path: string) {
    super(message);
    this.code = code;
    this.path = path;
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

function told(error: unknown): { code: PiCode; message: string; path?: string } {
  if (error instanceof PiFailure) return { code: error.code, message: error.message, path: error.path };
  const { code, message, path } = error instanceof HarnessFileError ? error : toFileError(error);
  return { code: CODES[code] ?? "unknown", message, ...(path !== undefined && { path }) };
}
