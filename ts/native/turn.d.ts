// Turns, messages and large results as they cross into the addon and out of it.
import type { Failure } from "./failure.js";
import type { NativeWrite, NativeWritten } from "./files.js";

export interface NativeTurn {
  /** Frees the lock; safe to call again. */
  end(): void;
}

export interface NativeMessages {
  staged(ids: string[]): Promise<boolean[] | Failure>;
  /** What was kept of each; null also for one that was not staged. */
  notes(ids: string[]): Promise<Array<string | null> | Failure>;
  /** Durable when it resolves. A note is JSON text of at most 64 KiB. */
  mark(ids: string[], notes: Array<string | null>): Promise<null | Failure>;
  release(): void;
}

/** The file is `<outputDir>/<portable tool>/<portable callId>.<extension>`. */
export interface NativeOffloadOptions {
  outputDir: string;
  toolName: string;
  toolCallId?: string;
  extension: "json" | "txt" | "bin";
  mediaType: string;
  maxInlineBytes: number;
  previewBytes: number;
  /** false: binary, without counts, preview and sketch. */
  text: boolean;
  source: string;
  turnId?: string;
  origin: "host" | "tool";
}

/** Used like NativeWrite. */
export interface NativeOffload {
  push(batch: Uint8Array): Promise<null | Failure>;
  /** Publishes, never over different content. `reference` is JSON text of at most `maxInlineBytes`. */
  finish(batch?: Uint8Array): Promise<{ written: NativeWritten; reference: string } | Failure>;
  abort(): Promise<null>;
}

/** Opaque. */
export interface NativeSnapshot {
  /** The next of what `changesSince` found; none at the end. */
  take(): NativeFileChange[];
}

export interface NativeFileChange {
  path: string;
  change: "created" | "updated" | "deleted";
  before?: { bytes: number; sha256: string };
  after?: { bytes: number; sha256: string };
}
