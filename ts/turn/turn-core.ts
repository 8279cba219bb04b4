// What the methods of a turn share: those of the session's core, until the turn ends.
import { Gate } from "../gate.js";
import type { Cancellation } from "../cancellation.js";
import { type Operation, SessionCore } from "../session-core.js";
import { FileLog } from "./file-log.js";

export class TurnCore extends SessionCore {
  readonly turnId: string;
  readonly log: FileLog;
  readonly #session: SessionCore;
  readonly #calls = new AbortController();

  constructor(session: SessionCore, turnId: string) {
    const { native, addon, events, offload, persistent } = session;
    super({ native, addon, events, offload, persistent, gate: new Gate("The turn has ended. Begin another one.") });
    this.turnId = turnId;
    this.log = new FileLog(turnId);
    this.#session = session;
  }

  override async perform<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    this.gate.enter();
    try {
      return await this.#session.perform({ ...operation, turnId: this.turnId }, work);
    } finally {
      this.gate.leave();
    }
  }

  override noteRead(path: string): void {
    this.log.noteRead(path);
  }

  override noteEdited(path: string): void {
    this.log.noteEdited(path);
  }

  /** The end of the turn by `abort` ends its calls as well. */
  override cancellation(...signals: ReadonlyArray<AbortSignal | undefined>): Cancellation | undefined {
    return this.#session.cancellation(...signals, this.#calls.signal);
  }

  /** FS_ABORTED for the calls that run. */
  abortCalls(reason: unknown): void {
    this.#calls.abort(reason);
  }
}
