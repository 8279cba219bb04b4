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
  refused(operation: string, failure: FailureInfo, source?: string): Promise<null | Failure>;
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
