// What the methods of a session handle share: the gate, the addon's session, events and refusals.
import type { FsErrorCode } from "../index.js";
import { Cancellation } from "./cancellation.js";
import { type HarnessFileError, located, toFailure, toFileError } from "./errors.js";
import type { SessionEvents } from "./events.js";
import type { Gate } from "./gate.js";
import type { Addon, NativeSession } from "./native.js";
import type { SessionDirs } from "./persistent/session-dirs.js";
import type { OffloadSettings } from "./tools/offload-options.js";

/** Refusals, which are events; other failures are not. */
const REFUSALS: ReadonlySet<FsErrorCode> = new Set<FsErrorCode>([
  "FS_INVALID_PATH",
  "FS_INVALID_OPTION",
  "FS_INVALID_CONTENT",
  "FS_SANDBOX_DENIED",
  "FS_PERMISSION_DENIED",
  "FS_QUOTA_EXCEEDED",
  "FS_STALE_VERSION",
  "FS_NOT_OBSERVED",
  "FS_ALREADY_EXISTS",
]);

export function isRefusal({ code }: HarnessFileError): boolean {
  return REFUSALS.has(code);
}

/** A call as its refusal is told. */
export interface Operation {
  readonly name: string;
  readonly path: unknown;
  /** Asked for only when the call is refused. */
  readonly source?: () => string;
  readonly turnId?: string;
}

export type CoreParts = Pick<SessionCore, "native" | "addon" | "gate" | "events" | "offload" | "persistent">;

export class SessionCore {
  readonly native: NativeSession;
  readonly addon: Addon;
  readonly gate: Gate;
  readonly events: SessionEvents;
  /** What the host says of large results. */
  readonly offload: OffloadSettings | false;
  readonly persistent: SessionDirs;

  constructor({ native, addon, gate, events, offload, persistent }: CoreParts) {
    this.native = native;
    this.addon = addon;
    this.gate = gate;
    this.events = events;
    this.offload = offload;
    this.persistent = persistent;
  }

  /**
   * Runs a call. `work` begins in the same tick. Whatever it throws comes out coded and with its path, refusals are told,
   * and events of the call are delivered before it settles.
   */
  async perform<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    this.gate.enter();
    try {
      return await work();
    } catch (error) {
      const failure = located(toFileError(error), operation.path);
      if (isRefusal(failure)) {
        await this.native.refused(operation.name, toFailure(failure), operation.source?.(), operation.turnId);
      }
      throw failure;
    } finally {
      this.events.drain();
      this.gate.leave();
    }
  }

  /** A file was read, for those who keep a list. */
  noteRead(_path: string): void {}

  /** A file was edited, likewise. */
  noteEdited(_path: string): void {}

  /** For a call that any of the signals ends. Throws FS_ABORTED when one is aborted already. */
  cancellation(...signals: ReadonlyArray<AbortSignal | undefined>): Cancellation | undefined {
    const given = signals.filter((signal) => signal !== undefined);
    return given.length === 0 ? undefined : new Cancellation(given, new this.addon.NativeCancel());
  }

  /** Runs `work` under the signal, if there is one; its listener is gone afterwards. */
  async cancellable<T>(
    signal: AbortSignal | undefined,
    work: (cancellation: Cancellation | undefined) => Promise<T>,
  ): Promise<T> {
    const cancellation = this.cancellation(signal);
    try {
      return await work(cancellation);
    } finally {
      cancellation?.dispose();
    }
  }
}
