// Persistent Dirs as they cross into the addon and out of it.
import type { Failure } from "./failure.js";
import type { NativeFileData, NativeRead, NativeWrite } from "./files.js";
import type { NativeCancel } from "../native.js";

/** Declared at `localHost`; from then on named by its index. */
export interface NativePersistentDir {
  /** As given; the addon refuses what is no path below /persistent, and dirs that overlap: FS_INVALID_OPTION. */
  harnessDir: string;
  readOnly: boolean;
  /** A `localDir`, with its source where that does not depend on `extraBody`: sources that overlap are refused. */
  local: boolean;
  source?: NativeLocalSource;
}

export interface NativeLocalSource {
  /** "data": below dataDir; "project": below projectRoot; "absolute": as written. */
  below: "data" | "project" | "absolute";
  path: string;
}

/** A scope or a local source. */
export interface NativeSource {
  /** To commit; a load shares the store with other loads. */
  exclusive: boolean;
  /** Names the store of any dir that is not local. */
  scope?: string;
  local?: NativeLocalSource;
  /** The sources of the other local dirs for the same `extraBody`: none may overlap. */
  others?: NativeLocalSource[];
}

/** An operation on one Persistent Dir. Paths here are relative to the dir. Holds its locks until `release`. */
export interface NativeDir {
  /** Nothing was ever loaded, or not since the checkout was emptied. */
  readonly neverLoaded: boolean;
  /** A load has to precede the next commit: never loaded, the cursor is void, or the outcome of a commit is unknown. */
  readonly mustLoad: boolean;
  /** JSON text that the last load or commit gave. */
  readonly cursor: string | null;
  /** A `localDir`: brings in what changed. `discard`: paths whose uncommitted changes yield to the store's content. */
  loadLocal(discard: string[], cancel?: NativeCancel): Promise<NativeLoaded | Failure>;
  /** Another store. `complete`: what is not named is gone from the store; else it is as it was. */
  beginLoad(complete: boolean, discard: string[]): NativeLoad;
  /**
   * Scans, and stages a copy of all that is pending, or of that at or below `paths`; notes that it is being sent. null:
   * there is nothing. FS_CONFLICT (`details.paths`, in the dir) while the dir has a conflict.
   */
  beginCommit(paths: string[] | null, cancel?: NativeCancel): Promise<NativeCommit | null | Failure>;
  /** Scans; what is pending is on the disk then, whoever wrote it. For dirs that a finished turn does not commit. */
  flushPending(): Promise<null | Failure>;
  /** Notes a failed attempt on what is pending, all or at or below `paths`: one that failed before `beginCommit` gave a commit. */
  commitFailed(paths: string[] | null, code: string, message: string): Promise<null | Failure>;
  /** Scans; gives how many changes there are, which `takePending` hands out. */
  pending(): Promise<number | Failure>;
  /** The next few, oldest first, then by the bytes of the path; none at the end. */
  takePending(): NativePending[];
  /** How many there are, for `takeConflicts`. */
  conflicts(): Promise<number | Failure>;
  takeConflicts(): NativeConflict[];
  /** The store's side; null when it is deleted there. FS_NOT_FOUND when the path is not in conflict. */
  readTheirs(path: string): Promise<NativeFileData | null | Failure>;
  /** FS_NOT_FOUND when the path is not in conflict. */
  resolve(path: string, side: "ours" | "theirs"): Promise<null | Failure>;
  /** Gives up the changes at or below `paths`, or all. Returns the paths that need the store's content: load with them. */
  discard(paths: string[] | null): Promise<string[] | Failure>;
  /** Empties the checkout and forgets its base: the next access loads. */
  reset(): Promise<null | Failure>;
  /** Safe to call again. */
  release(): void;
}

export interface NativeLoaded {
  /** In the dir now. */
  files: number;
  bytes: number;
  /** What came in. */
  created: number;
  updated: number;
  deleted: number;
  /** In conflict now. */
  conflicts: number;
  /** What the store holds and no path can name. */
  skipped: number;
}

/** A load. A path that is none, or given twice, or a file below a file: FS_INVALID_PATH. */
export interface NativeLoad {
  /** What the store holds. For each: 0 the base has this version, 1 its content is wanted (then put it), 2 no path. */
  list(paths: string[], versions: Array<string | null>): Promise<number[] | Failure>;
  /** A whole small content; copies it. Need not be listed before. */
  put(path: string, bytes: Uint8Array, version?: string): Promise<null | Failure>;
  begin(path: string, version?: string): NativeLoadWrite | Failure;
  /** For loads that are not complete: these are gone from the store. */
  gone(paths: string[]): Promise<null | Failure>;
  /** Publishes what came. `cursor` is JSON text. */
  finish(cursor: string | null, cancel?: NativeCancel): Promise<NativeLoaded | Failure>;
  /** Nothing of it is seen. Safe at any time. */
  abort(): Promise<null>;
}

/** Used like NativeWrite. */
export interface NativeLoadWrite {
  push(batch: Uint8Array): Promise<null | Failure>;
  finish(batch?: Uint8Array): Promise<null | Failure>;
  abort(): Promise<null>;
}

export interface NativeChange {
  path: string;
  change: "created" | "updated" | "deleted";
  bytes?: number;
  sha256?: string;
  mediaType?: string;
  baseBytes?: number;
  baseSha256?: string;
  baseVersion?: string;
}

/** Staged changes on their way to the store. */
export interface NativeCommit {
  /** The same for every attempt at the same changes. */
  readonly id: string;
  /** Ordered by path: the next few from the `from`th on; none at the end. */
  entries(from: number): NativeChange[];
  /** Of all contents together. */
  readonly bytes: number;
  /** What is pending and cannot be sent: links, special files, names that no path can hold. Likewise. */
  refused(from: number): NativeRefused[];
  /** A `localDir`: all or nothing. FS_CONFLICT (`details.paths`): the source has changed, nothing was applied; load. */
  apply(cancel?: NativeCancel): Promise<null | Failure>;
  /** The staged content. */
  read(path: string): Promise<Uint8Array | Failure>;
  open(path: string): Promise<NativeRead | Failure>;
  /** One change has landed: noted at once. */
  landed(path: string, version?: string): Promise<null | Failure>;
  /** All have landed. Without a cursor the old one is void. `versions` is parallel to `paths`, for those that are known. */
  stored(cursor: string | null, paths: string[], versions: string[]): Promise<null | Failure>;
  /** What has not landed has failed, and stays pending. `unknown`: it may have landed all the same; a load tells. */
  failed(code: string, message: string, unknown: boolean): Promise<null | Failure>;
  /** Drops the staged contents. Safe to call again. */
  end(): void;
}

export interface NativeRefused {
  path: string;
  code: string;
  message: string;
}

export interface NativePending {
  path: string;
  change: "created" | "updated" | "deleted";
  bytes?: number;
  sha256?: string;
  /** Milliseconds since 1970. */
  since: number;
  attempts: number;
  errorCode?: string;
  errorMessage?: string;
}

export interface NativeConflict {
  path: string;
  base?: { bytes: number; sha256: string };
  ours?: { bytes: number; sha256: string };
  theirs?: { bytes: number; sha256: string };
}
