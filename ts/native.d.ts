// The private interface of the addon, as its loader exports it. Async methods resolve to a value or to a `Failure`: they do
// not reject. Everything that crosses was checked on this side first.
import type { Failure, FailureInfo } from "./native/failure.js";
import type {
  NativeEntry,
  NativeFileData,
  NativeListOptions,
  NativeListing,
  NativeRead,
  NativeReadOptions,
  NativeRemoveOptions,
  NativeSessionInfo,
  NativeWrite,
  NativeWriteOptions,
  NativeWritten,
} from "./native/files.js";
import type { NativeDir, NativePersistentDir, NativeSource } from "./native/persistent.js";
import type { NativeSessionTools } from "./native/tools.js";
import type { NativeMessages, NativeOffload, NativeOffloadOptions, NativeSnapshot, NativeTurn } from "./native/turn.js";

export * from "./native/failure.js";
export * from "./native/files.js";
export * from "./native/persistent.js";
export * from "./native/tools.js";
export * from "./native/turn.js";

export interface Addon {
  readonly NativeHost: { open(options: NativeHostOptions): NativeHost | Failure };
  readonly NativeCancel: new () => NativeCancel;
  /** Portable on every system, at most `maxBytes` long, and another one for another name. */
  portableName(name: string, maxBytes: number): string;
}

export interface NativeHostOptions {
  dataDir: string;
  durability: "turn" | "write" | "none";
  sessionBytes?: number;
  fileBytes?: number;
  sessionFiles?: number;
  trace: boolean;
  diff: boolean;
  redactedPaths: string[];
  redactedKeys: string[];
  resolver?: "walk";
  /** What a `projectDir` is relative to; absolute. */
  projectRoot?: string;
  persistentDirs: NativePersistentDir[];
}

/** Ends a wait for a lock and a running read, listing or hash; the call then gives FS_ABORTED. */
export interface NativeCancel {
  cancel(): void;
}

export interface NativeHost {
  /** "dev:ino" of dataDir. */
  readonly identity: string;
  takeEvents(): string[];
  openSession(id: string, create: boolean, metadata?: string): Promise<NativeSession | null | Failure>;
  /** Ordered by id; `after` is an id. */
  listSessions(limit: number, after?: string): Promise<NativeSessionInfo[] | Failure>;
  deleteSession(id: string): Promise<null | Failure>;
  close(): Promise<null | Failure>;
}

export interface NativeSession extends NativeSessionTools {
  readonly id: string;
  /** `persistent`: of each declared dir, by its index. */
  hostPaths(): { session: string; artifacts: string; persistent: string[] } | Failure;
  status(): Promise<NativeSessionInfo | Failure>;
  /** Copies `bytes` before it returns. */
  write(
    path: string,
    bytes: Uint8Array,
    options: NativeWriteOptions,
    cancel?: NativeCancel,
  ): Promise<NativeWritten | Failure>;
  /** Checks the path; stages nothing yet. */
  beginWrite(path: string, options: NativeWriteOptions, cancel?: NativeCancel): NativeWrite | Failure;
  read(path: string, options: NativeReadOptions, cancel?: NativeCancel): Promise<NativeFileData | Failure>;
  openRead(path: string, start?: number, end?: number): Promise<NativeRead | Failure>;
  stat(path: string): Promise<NativeEntry | Failure>;
  list(path: string, options: NativeListOptions, cancel?: NativeCancel): Promise<NativeListing | Failure>;
  artifacts(): Promise<NativeListing | Failure>;
  remove(path: string, options: NativeRemoveOptions, cancel?: NativeCancel): Promise<null | Failure>;
  flush(): Promise<null | Failure>;
  /** Traces and queues `harness.file.refused`. */
  refused(operation: string, failure: FailureInfo, source?: string, turnId?: string): Promise<null | Failure>;
  /** Takes turn.lock. `wait` false: FS_BUSY at once when it is held; true: until it is free or cancelled. */
  beginTurn(wait: boolean, cancel?: NativeCancel): Promise<NativeTurn | Failure>;
  /** Takes messages.lock; waits up to 30 s, then FS_BUSY. */
  lockMessages(cancel?: NativeCancel): Promise<NativeMessages | Failure>;
  stagedMessageIds(): Promise<string[] | Failure>;
  /** Traces and queues an event of a kind that is composed on this side. `metadata` is JSON text of an object. */
  emit(type: string, metadata: string, turnId?: string): Promise<null | Failure>;
  beginOffload(options: NativeOffloadOptions, cancel?: NativeCancel): NativeOffload | Failure;
  snapshot(): Promise<NativeSnapshot | Failure>;
  /** How much other programs changed since the snapshot, which hands it out. Their events are queued. */
  changesSince(snapshot: NativeSnapshot, source: string, turnId?: string): Promise<number | Failure>;
  /** Indexes of the dirs that hold `path`; `below`: also of those that lie below it. Empty for a path that is refused. */
  persistentDirsAt(path: string, below: boolean): number[];
  /** Whether a turn of the session runs, in whatever process. */
  turnRunning(): boolean;
  /**
   * Begins an operation on a dir's checkout, one at a time in and across processes; waits up to 30 s, then FS_BUSY.
   * With a source it is opened and locked too (a `localDir`'s folder; else a lock of this dataDir for dir and scope).
   * Another source than the checkout was loaded from: FS_CONFLICT while changes are pending, else the checkout is emptied.
   */
  openDir(dir: number, source: NativeSource | null, cancel?: NativeCancel): Promise<NativeDir | Failure>;
  takeEvents(max: number): string[];
  dropEvents(): void;
  /** Lets go of this handle; others on the same session stay open. */
  close(): void;
}
