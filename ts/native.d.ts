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
  hostPaths(): { session: string; artifacts: string } | Failure;
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
  takeEvents(max: number): string[];
  dropEvents(): void;
  /** Lets go of this handle; others on the same session stay open. */
  close(): void;
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
