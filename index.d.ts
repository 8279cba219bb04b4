/// <reference types="node" />
/// <reference lib="esnext.disposable" />
// The public contract of `@little-stack/files`. Kept by hand; the compiler checks ts/index.ts against it.

// ── Content ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Anything that yields bytes.
 *
 * - Text is written as UTF-8; a lone surrogate becomes U+FFFD, as everywhere on the web platform.
 * - A view writes its own bytes only (`byteOffset`, `byteLength`). Up to 8 MiB are copied before the call returns, so the
 *   buffer may be changed at once; a larger one must not change until the promise settles.
 * - Streams and iterables are read once, with back-pressure, and cancelled once when the write fails. Their chunks are
 *   `Uint8Array`, any other view, or `ArrayBuffer`; streams and async iterables may yield strings as well.
 * - A Node `Readable` is an AsyncIterable; a `File` is a Blob; the body of a `Response` is a ByteStream.
 *
 * An empty array, a Map, FormData and URLSearchParams are refused at run time with FS_INVALID_CONTENT; so are a stream
 * that is locked or was read from before, and a chunk that is not bytes.
 */
export type FileContent =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | ByteStream
  | AsyncIterable<Uint8Array | string>
  | Iterable<Uint8Array>;

/** What we use of a `ReadableStream`: structural, so that the DOM's and the one of node:stream/web both fit. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

// ── FileWriter ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The files of a session, below `/session/` and `/artifacts/`.
 *
 * Paths are absolute and use `/`; `..`, `\` and control characters are refused (FS_INVALID_PATH), as is everything outside
 * the managed roots (FS_SANDBOX_DENIED). Every failure rejects with a {@link HarnessFileError}; no method throws at once.
 * The functions use no `this` and may be passed on by themselves.
 */
export interface FileWriter {
  /**
   * Writes the whole content or nothing: a reader sees the old file or the new one, never a mix, and a write that fails or
   * is aborted leaves the old file as it was. Parent folders are made. Default media type: the Blob's, else by the path's
   * extension.
   *
   * @throws FS_INVALID_PATH, FS_SANDBOX_DENIED, FS_INVALID_OPTION, FS_INVALID_CONTENT (also when the source fails: `cause`
   * is its own error), FS_NOT_REGULAR_FILE, FS_STALE_VERSION, FS_ALREADY_EXISTS, FS_QUOTA_EXCEEDED, FS_NO_SPACE, FS_ABORTED
   */
  write(path: string, content: FileContent, options?: WriteFileOptions): Promise<FileRef>;
  /** Writes a string as UTF-8. Default media type: by the path's extension, else `text/plain`. */
  writeText(path: string, text: string, options?: WriteFileOptions): Promise<FileRef>;
  /**
   * Writes `JSON.stringify(value, null, 2)`, byte for byte, at any size: past the limit of a JavaScript string too, and
   * without holding the event loop. `value` must not change until the promise settles. Default media type
   * `application/json`.
   *
   * @throws FS_INVALID_CONTENT for what JSON cannot hold (undefined, a function or a symbol at the top, a BigInt, a cycle,
   * more than 10,000 levels) and for a getter or `toJSON` that throws (`cause`); the message says where: `$.rows[3].id`
   */
  writeJSON(path: string, value: unknown, options?: WriteFileOptions): Promise<FileRef>;
  /**
   * Reads a file, or a range of it.
   *
   * @throws FS_NOT_FOUND, FS_NOT_REGULAR_FILE, FS_TOO_LARGE (over `maxBytes`: never a cut), FS_NOT_TEXT (encoding "utf8")
   */
  read(path: string, options?: ReadFileOptions): Promise<FileData>;
  /**
   * Opens at once (so that a missing file rejects here) and reads as it is pulled, at most 256 KiB at a time: serves a
   * download without loading it. A byte stream, so BYOB readers work. After `session.close()` its next pull fails with
   * FS_CLOSED.
   */
  readStream(path: string, options?: ReadStreamOptions): Promise<ReadableStream<Uint8Array>>;
  /** Describes a file, a folder or a link itself (never what it points to). */
  stat(path: string): Promise<FileEntry>;
  /**
   * Sorted by the bytes of the whole path (`/s/a`, `/s/a-b`, `/s/a/c`). Direct children, or with `recursive` the whole tree.
   * Links are listed, not followed.
   */
  list(path: string, options?: ListFilesOptions): Promise<FileEntry[]>;
  /**
   * Removes a file or a link; a folder (also an empty one) only with `recursive`, else FS_NOT_REGULAR_FILE. A root cannot be
   * removed.
   */
  remove(path: string, options?: RemoveFileOptions): Promise<void>;
}

export interface WriteFileOptions {
  /** 1 to 1,024 characters, no control characters. Wins over the Blob's type and the extension. */
  mediaType?: string;
  /** Origin label for events. Default "app-context". 1 to 256 characters. */
  source?: "user-message" | "app-context" | "tool" | "agent" | (string & {});
  /** Host-facing; a plain JSON object of at most 64 KiB of JSON and 100 levels. Never shown to the model. */
  metadata?: Record<string, unknown>;
  /** Marks the file as an artifact. What lies under `/artifacts/` is one unless this is false. */
  artifact?: boolean | ArtifactOptions;
  /** Only if the file still has this sha256 (64 lower-case hex digits); else FS_STALE_VERSION. Not with `ifNoneMatch`. */
  ifMatch?: string;
  /** Only if nothing is there; else FS_ALREADY_EXISTS. */
  ifNoneMatch?: "*";
  /** Ends the write with FS_ABORTED, whose `cause` is `signal.reason`. Once the file is published it has no effect. */
  signal?: AbortSignal;
}

export interface ArtifactOptions {
  /** 1 to 1,024 characters. */
  name?: string;
  /** Instead of the write's own `metadata`; the same limits. */
  metadata?: Record<string, unknown>;
}

/** A plain object that survives JSON and structuredClone; fields without a value are absent, not undefined. */
export interface FileRef {
  /** As on the disk: names of an existing file keep their form. */
  path: string;
  bytes: number;
  /** Of exactly what is on the disk: 64 lower-case hex digits. */
  sha256: string;
  mediaType?: string;
  artifact?: ArtifactRef;
}

export interface ArtifactRef {
  /** For `session.artifacts.read`. */
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  name?: string;
  metadata?: Record<string, unknown>;
}

/** Bytes `start` (default 0) to `end` (exclusive, default the end). Integers, `start` not after `end`. */
export interface ByteRange {
  start?: number;
  end?: number;
}

export interface ReadFileOptions {
  /** "utf8" checks at once that the content is text: FS_NOT_TEXT. Default "bytes". */
  encoding?: "bytes" | "utf8";
  range?: ByteRange;
  /** Most bytes to load. Default 512 MiB; more is FS_TOO_LARGE, never a cut. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface ReadStreamOptions {
  range?: ByteRange;
  /** Also ends the stream later on: it fails with FS_ABORTED. */
  signal?: AbortSignal;
}

export interface FileData {
  path: string;
  /** Size of the whole file, also for a range. */
  bytes: number;
  /** Of the whole file, also for a range. */
  sha256: string;
  mediaType?: string;
  /** What was read. The methods below sit on the prototype, so that the value survives structuredClone. */
  content: Uint8Array;
  /** Strict UTF-8 (FS_NOT_TEXT otherwise; FS_TOO_LARGE past the longest JavaScript string); a leading BOM is dropped. */
  text(): string;
  /** FS_INVALID_CONTENT when the text is not JSON. */
  json<T = unknown>(): T;
}

export interface FileEntry {
  path: string;
  kind: "file" | "directory" | "symlink" | "other";
  bytes?: number;
  updatedAt?: Date;
  mediaType?: string;
  /** When known without reading the file. */
  sha256?: string;
  artifact?: ArtifactRef;
}

export interface ListFilesOptions {
  /** Default false. */
  recursive?: boolean;
  /** Glob on the path below the listed folder. */
  pattern?: string;
  /** Most entries to give; at least 1. Default: all. */
  limit?: number;
  /** Start after this path (the last one of the page before). */
  after?: string;
  signal?: AbortSignal;
}

export interface RemoveFileOptions {
  /** Default false. */
  recursive?: boolean;
  /** A missing path is fine. Default false. */
  force?: boolean;
  /** Only if the file still has this sha256; else FS_STALE_VERSION. */
  ifMatch?: string;
  signal?: AbortSignal;
}

// ── Host and sessions ──────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Opens (and makes) `dataDir` at once: a folder that cannot be used throws here, not at the first write. The native addon
 * is loaded by the first call.
 *
 * @throws FS_NATIVE_BINDING when the addon cannot be loaded, FS_INVALID_OPTION, FS_BUSY when another copy of this package
 * in the same process has the same dataDir open, or any error of the file system
 */
export function localHost<TExtraBody = unknown>(options?: LocalHostOptions<TExtraBody>): LocalHost<TExtraBody>;

export interface LocalHostOptions<TExtraBody = unknown> {
  /** Default `.little-harness` in the working folder. Folders are made 0700, files 0600. */
  dataDir?: string;
  /**
   * When a write is on the disk for good. "turn" (default): after `session.flush()`; "write": before each write resolves;
   * "none": when the system sees fit, unless `flush` is called.
   */
  durability?: "turn" | "write" | "none";
  /** Limits whose excess is FS_QUOTA_EXCEEDED. Integers, 0 or more. Default: none. */
  quota?: { sessionBytes?: number; fileBytes?: number; sessionFiles?: number };
  /** What stays out of events and traces: content below these paths, values under these metadata keys (in any case). */
  redaction?: { paths?: readonly string[]; keys?: readonly string[] };
  /** false: no trace.ndjson. `diff` (default true): the events of text files up to 256 KiB hold a bounded unified diff. */
  trace?: false | { diff?: boolean };
  /** Called for each event, before the call that caused it settles. A throw is ignored, with one warning. */
  onEvent?: (event: HarnessTraceEvent) => void;
}

export interface LocalHost<TExtraBody = unknown> extends AsyncDisposable {
  readonly sessions: SessionManager<TExtraBody>;
  /** Closes all session handles, waits for running calls. What comes after is FS_CLOSED. May be called again. */
  close(): Promise<void>;
}

export interface SessionManager<TExtraBody = unknown> {
  /**
   * Opens the session, or makes it. Each call gives its own handle. `id` is a non-empty string of at most 1,024 bytes
   * without lone surrogates; any such string is safe. `metadata` is kept when the session is made.
   */
  getOrCreate(options: { id: string; extraBody?: TExtraBody; metadata?: Record<string, unknown> }): Promise<HarnessSession<TExtraBody>>;
  get(id: string, options?: { extraBody?: TExtraBody }): Promise<HarnessSession<TExtraBody> | undefined>;
  /** Sorted by id. `after` is the last id of the page before. */
  list(options?: { limit?: number; after?: string }): Promise<SessionInfo[]>;
  /** Removes the session's files, rows and artifacts, and nothing else. Open handles get FS_CLOSED from then on. */
  delete(id: string): Promise<void>;
}

export interface SessionInfo {
  id: string;
  state: "idle" | "queued" | "running" | "failed";
  createdAt: Date;
  updatedAt: Date;
  /** Size of all files in the roots. */
  bytes: number;
  files: number;
  pendingChanges: number;
  metadata?: Record<string, unknown>;
}

export interface HarnessSession<TExtraBody = unknown> extends AsyncDisposable {
  readonly id: string;
  readonly files: FileWriter;
  readonly artifacts: SessionArtifacts;
  status(): Promise<SessionInfo>;
  /** When it resolves, everything written so far is on the disk. */
  flush(): Promise<void>;
  /**
   * Real folders of the roots, for mounting into a sandbox. Asked for, never shown otherwise. Throws FS_CLOSED at once when
   * the handle is closed.
   */
  hostPaths(): { session: string; artifacts: string; persistent: Record<string, string> };
  /** Ends this handle only. Waits for its running calls; what comes after is FS_CLOSED. May be called again. */
  close(): Promise<void>;
}

export interface SessionArtifacts {
  /** Marked files and all regular files below `/artifacts/`, sorted by path. */
  list(): Promise<ArtifactRef[]>;
  /** FS_NOT_FOUND when there is no such artifact. */
  read(idOrPath: string, options?: ReadFileOptions): Promise<FileData>;
}

// ── Events and errors ──────────────────────────────────────────────────────────────────────────────────────────────────

export type HarnessFileEventType =
  | "harness.file.created"
  | "harness.file.updated"
  | "harness.file.deleted"
  | "harness.file.refused"
  | "harness.file.staged_from_host"
  | "harness.artifact.created"
  | "harness.filesystem.mounted"
  | "harness.index.rebuilt";

/** Goes to `onEvent`, to the session's trace.ndjson and to the `node:diagnostics_channel` "little-harness:file". */
export interface HarnessTraceEvent {
  schemaVersion: "lh.trace.v2";
  type: HarnessFileEventType | (string & {});
  eventId: string;
  /** Rising within a session, across restarts. */
  sequence: number;
  /** "" for events of the host itself. */
  sessionId: string;
  turnId?: string;
  stepId?: string;
  parentEventId?: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  metadata: Record<string, unknown>;
}

/** Codes never change meaning. The last three lines belong to turns, Persistent Dirs and tools. */
export type FsErrorCode =
  | "FS_INVALID_PATH" | "FS_INVALID_OPTION" | "FS_INVALID_CONTENT" | "FS_SANDBOX_DENIED" | "FS_PERMISSION_DENIED"
  | "FS_NOT_FOUND" | "FS_NOT_DIRECTORY" | "FS_NOT_REGULAR_FILE" | "FS_ALREADY_EXISTS" | "FS_NOT_TEXT" | "FS_TOO_LARGE"
  | "FS_STALE_VERSION" | "FS_NO_SPACE" | "FS_QUOTA_EXCEEDED"
  | "FS_ABORTED" | "FS_BUSY" | "FS_CLOSED" | "FS_NATIVE_BINDING" | "FS_IO_ERROR"
  | "FS_NOT_OBSERVED" | "FS_AMBIGUOUS_EDIT" | "FS_EDIT_NOT_FOUND"
  | "FS_LOAD_FAILED" | "FS_COMMIT_FAILED" | "FS_CONFLICT"
  | "FS_NO_CONTEXT";

/** The one error of this package. Fields without a value are absent. */
export class HarnessFileError extends Error {
  constructor(
    code: FsErrorCode,
    message: string,
    options?: {
      path?: string;
      osCode?: string;
      reason?: HarnessFileError["reason"];
      details?: Record<string, unknown>;
      cause?: unknown;
    },
  );
  readonly code: FsErrorCode;
  /** The harness path, never a host path. */
  readonly path?: string;
  /** The kernel's name for it, such as "EACCES". */
  readonly osCode?: string;
  /** Which policy refused (FS_SANDBOX_DENIED). */
  readonly reason?: "outside_roots" | "read_only" | "symlink" | "root" | "undeclared_persistent_dir";
  readonly details?: Record<string, unknown>;
  /** Starts with the code in brackets, says what happened and to which path, in at most 2 KiB. */
  readonly message: string;
  /** Also true for an error from another copy of this package. */
  static isInstance(value: unknown): value is HarnessFileError;
}
