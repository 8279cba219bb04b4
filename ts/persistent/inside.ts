// Knows which dirs' callbacks the running code was called from: what they ask of the same dir would wait for themselves.
import { AsyncLocalStorage } from "node:async_hooks";
import { HarnessFileError } from "../errors.js";

interface Running {
  /** Names the session among all of this process. */
  readonly session: string;
  readonly harnessDir: string;
  /** What a callback left running may go on afterwards. */
  over: boolean;
}

const callbacks = new AsyncLocalStorage<readonly Running[]>();

/** Whether a callback of the dir, or of any dir of the session, runs this very code. */
export function isInside(session: string, harnessDir?: string): boolean {
  const running = callbacks.getStore() ?? [];
  return running.some(
    (each) => !each.over && each.session === session && (harnessDir ?? each.harnessDir) === each.harnessDir,
  );
}

/** FS_BUSY at once. */
export function refuseInside(session: string, what: string, harnessDir?: string): void {
  if (!isInside(session, harnessDir)) return;
  const message = `${what} was called from inside a callback of the Persistent Dir, which waits for it`;
  throw new HarnessFileError("FS_BUSY", message);
}

export async function inside<T>(session: string, harnessDir: string, callback: () => Promise<T>): Promise<T> {
  const running: Running = { session, harnessDir, over: false };
  try {
    return await callbacks.run([...(callbacks.getStore() ?? []), running], callback);
  } finally {
    running.over = true;
  }
}
