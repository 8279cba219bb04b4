// Codes as they are told at the seam, where those of the layer below mean something else.
import type { FsErrorCode } from "../../index.js";
import { HarnessFileError } from "../errors.js";

const PREFIX = /^\[\w+\] /;

/** What fails with `code` fails with `told`. */
export async function as<T>(code: FsErrorCode, told: FsErrorCode, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof HarnessFileError && error.code === code) throw recoded(error, told);
    throw error;
  }
}

/** undefined where nothing is. */
export async function missing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const absent = error instanceof HarnessFileError && /^FS_NOT_(FOUND|DIRECTORY)$/.test(error.code);
    if (absent) return undefined;
    throw error;
  }
}

function recoded(error: HarnessFileError, code: FsErrorCode): HarnessFileError {
  return withText(error, error.message.replace(PREFIX, ""), code);
}

/** The same error in other words. */
export function withText(error: HarnessFileError, text: string, code: FsErrorCode = error.code): HarnessFileError {
  const { path, osCode, reason, details } = error;
  const fields = { path, osCode, reason, details, ...("cause" in error && { cause: error.cause }) };
  return new HarnessFileError(code, text, fields);
}
