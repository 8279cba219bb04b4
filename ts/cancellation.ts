// Ties AbortSignals to one call: natively by a NativeCancel, in JavaScript by a promise that rejects.
import { HarnessFileError, unwrap } from "./errors.js";
import type { Failure, NativeCancel } from "./native.js";

/** What hears of an abort. */
export interface Abortable {
  abort(): void;
}

interface Listening {
  readonly all: Set<Abortable>;
  readonly onAbort: () => void;
}

/** One listener a signal, however many calls it serves: more than ten would make Node warn of a leak. */
const listening = new WeakMap<AbortSignal, Listening>();

export class Cancellation implements Abortable {
  readonly native: NativeCancel;
  /** Rejects with FS_ABORTED, unless `seal` came first. */
  readonly aborted: Promise<never>;
  readonly #signals: readonly AbortSignal[];
  #reject: (error: HarnessFileError) => void = ignore;
  #joined: AbortController | undefined;

  /** Any of the signals will do. Throws FS_ABORTED when one is aborted already. */
  constructor(signals: readonly AbortSignal[], native: NativeCancel) {
    this.#signals = signals;
    this.native = native;
    this.check();
    this.aborted = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.aborted.catch(ignore);
    for (const signal of signals) listen(signal, this);
  }

  get isAborted(): boolean {
    return this.#signals.some((signal) => signal.aborted);
  }

  /** One for all of them, to hand on; until `dispose`. */
  get signal(): AbortSignal {
    const [first] = this.#signals;
    if (first !== undefined && this.#signals.length === 1) return first;
    if (this.#joined === undefined) {
      this.#joined = new AbortController();
      if (this.isAborted) this.#joined.abort(this.#reason());
    }
    return this.#joined.signal;
  }

  check(): void {
    if (this.isAborted) throw this.error();
  }

  /** From here on only native code can still end the call: publishing is not to be seen as undone. */
  seal(): void {
    this.check();
    this.#reject = ignore;
  }

  abort(): void {
    this.native.cancel();
    this.#reject(this.error());
    this.#joined?.abort(this.#reason());
  }

  dispose(): void {
    for (const signal of this.#signals) unlisten(signal, this);
  }

  error(): HarnessFileError {
    return new HarnessFileError("FS_ABORTED", "The call was aborted by its signal", { cause: this.#reason() });
  }

  #reason(): unknown {
    return this.#signals.find((signal) => signal.aborted)?.reason;
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

export function listen(signal: AbortSignal, abortable: Abortable): void {
  const known = listening.get(signal);
  if (known !== undefined) {
    known.all.add(abortable);
    return;
  }
  const all = new Set([abortable]);
  const onAbort = (): void => {
    for (const each of all) each.abort();
  };
  listening.set(signal, { all, onAbort });
  signal.addEventListener("abort", onAbort);
}

export function unlisten(signal: AbortSignal, abortable: Abortable): void {
  const known = listening.get(signal);
  if (known === undefined || !known.all.delete(abortable) || known.all.size > 0) return;
  listening.delete(signal);
  signal.removeEventListener("abort", known.onAbort);
}
