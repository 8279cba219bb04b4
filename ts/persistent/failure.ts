// How a load or commit that fails is told.
import { HarnessFileError, located, nameOf, printable } from "../errors.js";

/** Of these the code is what there is to tell, unless a callback threw them. */
const PASSED: ReadonlySet<string> = new Set(["FS_LOAD_FAILED", "FS_CONFLICT", "FS_ABORTED", "FS_BUSY", "FS_CLOSED"]);

/** What a user's callback threw, whatever that is: even an error of ours says there that the callback failed. */
export class Thrown extends Error {
  constructor(cause: unknown) {
    super("A callback failed", { cause });
  }
}

/** Calls a user's callback. */
export async function calling<T>(callback: () => T): Promise<Awaited<T>> {
  try {
    return await callback();
  } catch (error) {
    throw new Thrown(error);
  }
}

export function loadFailed(harnessDir: string, error: unknown): HarnessFileError {
  if (error instanceof HarnessFileError && PASSED.has(error.code)) return located(error, harnessDir);
  return failed("FS_LOAD_FAILED", harnessDir, "could not be loaded", error);
}

export function commitFailed(harnessDir: string, error: unknown): HarnessFileError {
  const passed = error instanceof HarnessFileError && PASSED.has(error.code) && error.code !== "FS_LOAD_FAILED";
  if (passed) return located(error, harnessDir);
  return failed("FS_COMMIT_FAILED", harnessDir, "could not be committed; its changes stay pending", error);
}

function failed(
  code: "FS_LOAD_FAILED" | "FS_COMMIT_FAILED",
  harnessDir: string,
  what: string,
  thrown: unknown,
): HarnessFileError {
  const cause = thrown instanceof Thrown ? thrown.cause : thrown;
  if (thrown === cause && cause instanceof HarnessFileError && cause.code === code) return located(cause, harnessDir);
  // The text of a callback's error is the user's own, whatever its class, and may hold host paths: it is left to `cause`.
  const ours = thrown === cause && cause instanceof HarnessFileError;
  const message = `The Persistent Dir ${harnessDir} ${what} (${ours ? printable(cause.message) : nameOf(cause)})`;
  return new HarnessFileError(code, message, { path: harnessDir, cause });
}
