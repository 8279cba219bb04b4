// The host's `onPersistenceError`.
import type { PersistentDirCommitResult } from "../../index.js";

type Failure = PersistentDirCommitResult & { sessionId: string };

/** What the callback throws changes nothing; the first time there is a warning. */
export function persistenceErrors(onError: ((failure: Failure) => unknown) | undefined): (failure: Failure) => void {
  let warned = false;
  const warn = (error: unknown): void => {
    if (warned) return;
    warned = true;
    process.emitWarning(`onPersistenceError failed: ${String(error)}`, {
      code: "LITTLE_FILES_ON_PERSISTENCE_ERROR",
    });
  };
  return (failure) => {
    try {
      const result = onError?.(failure);
      if (result instanceof Promise) result.catch(warn); // an async function may have been given
    } catch (error) {
      warn(error);
    }
  };
}
