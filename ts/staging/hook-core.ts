// The session as a hook has it: none of its calls outlives the hook, and none begins once that has ended.
import type { Cancellation } from "../cancellation.js";
import type { HarnessFileError } from "../errors.js";
import { Gate } from "../gate.js";
import { SessionCore } from "../session-core.js";

export class HookCore extends SessionCore {
  readonly #signal: AbortSignal | undefined;
  readonly #failed = new AbortController();

  /** The signal, if any, ends its calls as well. */
  constructor({ native, addon, events, offload, persistent }: SessionCore, signal: AbortSignal | undefined) {
    const gate = new Gate("The stageMessage hook has ended, and its files with it. Use session.files.");
    super({ native, addon, events, offload, persistent, gate });
    this.#signal = signal;
  }

  override cancellation(...signals: ReadonlyArray<AbortSignal | undefined>): Cancellation | undefined {
    return super.cancellation(...signals, this.#signal, this.#failed.signal);
  }

  /** Waits for calls that still run; those of a hook that failed are aborted. */
  async end(failure: HarnessFileError | undefined): Promise<void> {
    const ended = this.gate.close();
    if (failure !== undefined) this.#failed.abort(failure);
    await ended;
  }
}
