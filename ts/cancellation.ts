// Ties a caller's AbortSignal to one call: natively by a NativeCancel, in JavaScript by a promise that rejects.
import { HarnessFileError, unwrap } from "./errors.js";
import type { Failure, NativeCancel } from "./native.js";

interface Listening {
  readonly calls: Set<Cancellation>;
  readonly onAbort: () => void;
}

/** One listener a signal, however many calls it serves: more than ten would make Node warn of a leak. */
const listening = new WeakMap<AbortSignal, Listening>();

export class Cancellation {
  readonly native: NativeCancel;
  /** Rejects with FS_ABORTED, unless `seal` came first. */
  readonly aborted: Promise<never>;
  readonly #signal: AbortSignal;
  #reject: (error: HarnessFileError) => void = ignore;

  /** Throws FS_ABORTED when the signal is aborted already. */
  constructor(signal: AbortSignal, native: NativeCancel) {
    this.#signal = signal;
    this.native = native;
    this.check();
    this.aborted = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.aborted.catch(ignore);
    listen(signal, this);
  }

  check(): void {
    if (this.#signal.aborted) throw this.error();
  }

  /** From here on only native code can still end the call: publishing is not to be seen as undone. */
  seal(): void {
    this.check();
    this.#reject = ignore;
  }

  abort(): void {
    this.native.cancel();
    this.#reject(this.error());
  }

  dispose(): void {
    unlisten(this.#signal, this);
  }

  error(): HarnessFileError {
    return new HarnessFileError("FS_ABORTED", "The call was aborted by its signal", { cause: this.#signal.reason });
  }
}

/** The value of a native call; its FS_ABORTED gets the signal's reason. */
export function settled<T>(result: T | Failure, cancellation: Cancellation | undefined): T {
  try {
    return unwrap(result);
  } catch (error) {
    const aborted = error instanceof HarnessFileError && error.code === "FS_ABORTED";
    throw aborted && cancellation !== undefined ? cancellation.error() : error;
  }
}

export function ignore(): void {}

function listen(signal: AbortSignal, cancellation: Cancellation): void {
  const known = listening.get(signal);
  if (known !== undefined) {
    known.calls.add(cancellation);
    return;
  }
  const calls = new Set([cancellation]);
  const onAbort = (): void => {
    for (const call of [...calls]) call.abort();
  };
  listening.set(signal, { calls, onAbort });
  signal.addEventListener("abort", onAbort);
}

function unlisten(signal: AbortSignal, cancellation: Cancellation): void {
  const known = listening.get(signal);
  if (known === undefined || !known.calls.delete(cancellation) || known.calls.size > 0) return;
  listening.delete(signal);
  signal.removeEventListener("abort", known.onAbort);
}
