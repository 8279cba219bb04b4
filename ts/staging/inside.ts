// Knows which sessions' callbacks the running code was called from: staging again from there would wait for itself.
import { AsyncLocalStorage } from "node:async_hooks";
import { HarnessFileError } from "../errors.js";

interface Running {
  readonly session: string;
  /** What a callback left running may stage again afterwards. */
  over: boolean;
}

const callbacks = new AsyncLocalStorage<readonly Running[]>();

export function refuseInside(session: string): void {
  if (!callbacks.getStore()?.some((running) => running.session === session && !running.over)) return;
  const message =
    "stageMessages was called from inside a callback of stageMessages on the same session, which waits for it";
  throw new HarnessFileError("FS_BUSY", message);
}

export async function inside<T>(session: string, callback: () => Promise<T>): Promise<T> {
  const running: Running = { session, over: false };
  try {
    return await callbacks.run([...(callbacks.getStore() ?? []), running], callback);
  } finally {
    running.over = true;
  }
}
