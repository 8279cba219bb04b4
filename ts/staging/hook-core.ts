// The session as a hook has it: its calls end with the signal of the staging, and none begins once the hook has ended.
import type { Cancellation } from "../cancellation.js";
import { Gate } from "../gate.js";
import { SessionCore } from "../session-core.js";

export class HookCore extends SessionCore {
  readonly #signal: AbortSignal | undefined;

  constructor({ native, addon, events }: SessionCore, signal: AbortSignal | undefined) {
    super(native, addon, new Gate("The stageMessage hook has ended, and with it its files. Use session.files."), events);
    this.#signal = signal;
  }

  override cancellation(...signals: ReadonlyArray<AbortSignal | undefined>): Cancellation | undefined {
    return super.cancellation(...signals, this.#signal);
  }
}
