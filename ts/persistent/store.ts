// What stands behind a Persistent Dir that is not local: the two callback shapes, and the stores of other entry points.
import type { LoadContext } from "../../index.js";

export interface ScopeContext {
  extraBody?: unknown;
  sessionId: string;
}

export interface CommitContext extends LoadContext {
  /** The same for every attempt at the same changes. */
  commitId: string;
  /** What the last load or commit gave; undefined when that is void. */
  cursor?: unknown;
}

/**
 * Paths are relative to the dir. What a method throws is a failed load or commit; `PersistentDirConflict` from `commitAll` and
 * `send` says that nothing of it was applied. Without either of these two the store is only read.
 */
export interface Store {
  /** For events: "custom", "s3". */
  readonly kind: string;
  /**
   * Names what is behind the dir, in at most 1,024 characters: a change is only sent to the scope it was loaded from. Asked for once for
   * each load or commit, which is told the answer: asked again, a function of the developer's might give another one.
   */
  scope(ctx: ScopeContext): string | Promise<string>;
  /** Whether `other` is in the same place, as far as both are known at start. Two dirs of a host may not share one. */
  overlaps?(other: Store): boolean;
  /** Gives the cursor, any JSON value. */
  load(ctx: LoadContext, loading: Loading, scope: string): Promise<{ cursor?: unknown }>;
  /** Applies all changes or none. `versions`: of the files as they are now, where known. */
  commitAll?(
    ctx: CommitContext,
    changes: Outgoing,
    scope: string,
  ): Promise<{ cursor?: unknown; versions?: ReadonlyMap<string, string> }>;
  /** Applies one change, if the file still has the version of its base. A load precedes. Deletions come first. */
  send?(ctx: CommitContext, change: OutgoingChange, scope: string): Promise<{ version?: string }>;
  /** How many `send` at once; default 1. */
  readonly concurrency?: number;
}

/** A load under way. */
export interface Loading {
  /** What the last load or commit gave; undefined when that is void. */
  readonly cursor: unknown;
  /** Paths whose content is wanted even if it has not changed: one that tells only changes has to name them too. */
  readonly needed: readonly string[];
  /** Once. `complete`: what is not named is gone from the store; else it is as it was. */
  begin(complete: boolean): Incoming;
}

/** Whether the base has this version, or its content is wanted; or no path can name it, which is left out and counted. */
export type Listed = "same" | "wanted" | "unnamable";

/** Its methods may run at the same time. A path that is none, that comes twice, or below a file, is FS_INVALID_PATH. */
export interface Incoming {
  /** What the store holds, in as many calls as there are pages. */
  list(entries: ReadonlyArray<{ path: string; version?: string }>): Promise<Listed[]>;
  /** Any content that the FileWriter takes. Need not be listed before. */
  put(path: string, content: unknown, version?: string): Promise<void>;
  /** When not complete: these are gone from the store. */
  gone(paths: readonly string[]): Promise<void>;
}

export interface Outgoing {
  /** Sorted by path. */
  readonly entries: readonly OutgoingChange[];
  /** Of all contents together. */
  readonly bytes: number;
}

export interface OutgoingChange {
  readonly path: string;
  readonly change: "created" | "updated" | "deleted";
  readonly bytes?: number;
  readonly sha256?: string;
  readonly mediaType?: string;
  readonly base?: { readonly bytes: number; readonly sha256: string; readonly version?: string };
  /** The whole content, of a file that is not deleted. */
  read(): Promise<Uint8Array>;
  /** Fails once the commit has ended. */
  open(): ReadableStream<Uint8Array>;
}
