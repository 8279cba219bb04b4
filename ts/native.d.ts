// The private interface of the addon, as its loader exports it. Async methods resolve to a value or to a `Failure`: they do
// not reject. Everything that crosses was checked on this side first.

export interface FailureInfo {
  code: string;
  message: string;
  path?: string;
  osCode?: string;
  reason?: string;
  /** JSON text of an object. */
  details?: string;
}

export interface Failure {
  failure: FailureInfo;
}

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

export interface NativeWriteOptions {
  /** Wins over the extension. */
  mediaType?: string;
  /** When the extension says nothing. */
  fallbackMediaType?: string;
  source: string;
  origin: "host" | "tool" | "message";
  /** JSON text of an object. */
  metadata?: string;
  artifact?: boolean;
  artifactName?: string;
  artifactMetadata?: string;
  ifMatch?: string;
  ifNoneMatch?: boolean;
  turnId?: string;
}

export interface NativeArtifact {
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  name?: string;
  /** JSON text of an object. */
  metadata?: string;
}

export interface NativeWritten {
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  artifact?: NativeArtifact;
}

export interface NativeReadOptions {
  start?: number;
  end?: number;
  maxBytes: number;
  utf8: boolean;
}

export interface NativeFileData {
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  content: Uint8Array;
}

export interface NativeEntry {
  path: string;
  kind: "file" | "directory" | "symlink" | "other";
  bytes?: number;
  /** Milliseconds. */
  updatedAt?: number;
  mediaType?: string;
  sha256?: string;
  artifact?: NativeArtifact;
}

export interface NativeSessionInfo {
  id: string;
  state: string;
  createdAt: number;
  updatedAt: number;
  bytes: number;
  files: number;
  /** Of Persistent Dirs, as of the last scan. */
  pendingChanges: number;
  /** JSON text of an object. */
  metadata?: string;
}

export interface NativeListOptions {
  recursive: boolean;
  pattern?: string;
  limit?: number;
  after?: string;
}

export interface NativeRemoveOptions {
  recursive: boolean;
  force: boolean;
  ifMatch?: string;
  source: string;
  turnId?: string;
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

export interface NativeSession {
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
  /** What other programs changed since the snapshot. Their events are queued. */
  changesSince(snapshot: NativeSnapshot, source: string, turnId?: string): Promise<NativeFileChange[] | Failure>;
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
  /** Scans. */
  pending(): Promise<NativePending[] | Failure>;
  conflicts(): Promise<NativeConflict[] | Failure>;
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
  /** Ordered by path. */
  readonly entries: NativeChange[];
  /** Of all contents together. */
  readonly bytes: number;
  /** What is pending and cannot be sent: links, special files, names that no path can hold. */
  readonly refused: Array<{ path: string; code: string; message: string }>;
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

export interface NativeWrite {
  /** One at a time. `batch` is not copied and must not be touched until the promise settles. */
  push(batch: Uint8Array): Promise<null | Failure>;
  /** Publishes; `batch` is the last one, if any. */
  finish(batch?: Uint8Array): Promise<NativeWritten | Failure>;
  /** Drops what was staged; done when it settles. Safe at any time. */
  abort(): Promise<null>;
}

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
  readonly __snapshot: true;
}

export interface NativeFileChange {
  path: string;
  change: "created" | "updated" | "deleted";
  before?: { bytes: number; sha256: string };
  after?: { bytes: number; sha256: string };
}

export interface NativeRead {
  readonly path: string;
  readonly bytes: number;
  /** null at the end. */
  next(maxBytes: number): Promise<Uint8Array | null | Failure>;
  /** Safe at any time; while a `next` is under way it may have to be called again after it. */
  close(): void;
}

/** `take` gives the batch that is ready (at most 512 entries); then, unless `done`, `next` readies another. */
export interface NativeListing {
  take(): NativeEntry[];
  readonly done: boolean;
  next(): Promise<null | Failure>;
}
