/// <reference types="node" />
/// <reference lib="esnext.disposable" />
// The public contract of `@little-stack/files`. Kept by hand; the compiler checks ts/index.ts against it.
import type { ToolResultFile } from "./client.js";

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
  | BlobLike
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

/** What we use of a Blob: structural as well, since the DOM's and the one of node:buffer (`openAsBlob`) differ in type. */
export interface BlobLike {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  stream(): ByteStream;
}

// ── FileWriter ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The files of a session, below `/session/`, `/artifacts/` and the {@link PersistentDir}s under `/persistent/`.
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
  /**
   * Origin label for events. Default "app-context" for `session.files`, "tool" for `turn.files` and `ctx.files`,
   * "user-message" in `stageMessage`. 1 to 256 characters.
   */
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

/** What is at a path. Facts that a write recorded are there while the file is still the one that was written. */
export interface FileEntry {
  path: string;
  /** Of the entry itself: a link is a "symlink", whatever it leads to. "other": a pipe, a device, a socket. */
  kind: "file" | "directory" | "symlink" | "other";
  /** Of a file. */
  bytes?: number;
  /** When its content last changed, as the disk has it. */
  updatedAt?: Date;
  /** As recorded by the write. */
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
  /** What a {@link projectDir} lies below. Default: the working folder at this call. */
  projectRoot?: string;
  /**
   * The folders under `/persistent/` that every session has, each with a store of yours behind it. Made by `localDir`,
   * `customDir`, `s3Dir` or `postgresDir`. Two that are equal or lie one inside the other, local sources that overlap or hold
   * the dataDir, and two stores in the same place (prefixes of one bucket that overlap, one scope of the same tables; as far
   * as no function gives them) are FS_INVALID_OPTION.
   */
  persistentDirs?: readonly PersistentDir<TExtraBody>[];
  /**
   * When a write is on the disk for good. "turn" (default): after `turn.finish()` or `session.flush()`; "write": before each
   * write resolves; "none": when the system sees fit, unless `flush` is called.
   */
  durability?: "turn" | "write" | "none";
  /** Limits whose excess is FS_QUOTA_EXCEEDED. Integers, 0 or more. Default: none. */
  quota?: { sessionBytes?: number; fileBytes?: number; sessionFiles?: number };
  /** What stays out of events and traces: content below these paths, values under these metadata keys (in any case). */
  redaction?: { paths?: readonly string[]; keys?: readonly string[] };
  /** What happens to tool results that are too large for the model. Default: they go to files. */
  offload?: false | OffloadOptions;
  /** What `beginTurn` does while a turn of the same session runs: it waits (default), or is FS_BUSY. */
  concurrentTurns?: "queue" | "reject";
  /** false: no trace.ndjson. `diff` (default true): the events of text files up to 256 KiB hold a bounded unified diff. */
  trace?: false | { diff?: boolean };
  /** Called for each event, before the call that caused it settles. A throw is ignored, with one warning. */
  onEvent?: (event: HarnessTraceEvent) => void;
  /**
   * Called for each Persistent Dir whose commit failed, whoever asked for the commit. Its changes stay pending. A throw is
   * ignored, with one warning.
   */
  onPersistenceError?: (failure: PersistentDirCommitResult & { sessionId: string }) => void;
}

export interface LocalHost<TExtraBody = unknown> extends AsyncDisposable {
  readonly sessions: SessionManager<TExtraBody>;
  /** Closes all session handles, waits for running calls. What comes after is FS_CLOSED. May be called again. */
  close(): Promise<void>;
}

export interface SessionManager<TExtraBody = unknown> {
  /**
   * Opens the session, or makes it. Each call gives its own handle. `id` is a non-empty string of at most 1,024 bytes
   * without lone surrogates; any such string is safe. `metadata` is kept when the session is made. `extraBody` is for turns,
   * staging and persistence of this handle that are given none.
   */
  getOrCreate(options: { id: string; extraBody?: TExtraBody; metadata?: Record<string, unknown> }): Promise<HarnessSession<TExtraBody>>;
  /** Opens the session if it is there; undefined otherwise, and nothing is made. Each call gives its own handle. */
  get(id: string, options?: { extraBody?: TExtraBody }): Promise<HarnessSession<TExtraBody> | undefined>;
  /** Sorted by id. `after` is the last id of the page before. */
  list(options?: { limit?: number; after?: string }): Promise<SessionInfo[]>;
  /**
   * Removes the session's files, rows and artifacts, and nothing else. Open handles get FS_CLOSED from then on. FS_BUSY while
   * a turn of the session runs. Pending changes of Persistent Dirs go too (`list` shows how many there are); stores stay as
   * they are.
   */
  delete(id: string): Promise<void>;
}

export interface SessionInfo {
  id: string;
  /** "running" while a turn of the session runs in this process, else "idle". */
  state: "idle" | "queued" | "running" | "failed";
  createdAt: Date;
  /** Of the last change that went through this package. */
  updatedAt: Date;
  /** Size of all files in the roots. */
  bytes: number;
  /** How many there are. */
  files: number;
  /** Uncommitted changes in Persistent Dirs, as of the last time they were looked for: a load, a commit or `pending()`. */
  pendingChanges: number;
  metadata?: Record<string, unknown>;
}

export interface HarnessSession<TExtraBody = unknown> extends AsyncDisposable {
  readonly id: string;
  /** The host's own: writes have the source "app-context". In a turn use `turn.files`. */
  readonly files: FileWriter;
  readonly artifacts: SessionArtifacts;
  /** Uncommitted changes and conflicts in Persistent Dirs. */
  readonly persistence: Persistence;
  /** How the session is now; `stagedMessageIds` are those that {@link HarnessSession.stageMessages} need not look at again. */
  status(): Promise<SessionInfo & { stagedMessageIds: string[] }>;
  /**
   * Begins a turn: one response to one input. There is one at a time in a session, in all processes; a process that dies
   * frees its turn. See `concurrentTurns`. From inside a turn of the same session it is FS_BUSY at once, as it would wait for
   * itself. `signal` aborts the turn, also while it waits for the one before (FS_ABORTED). `metadata` (a plain JSON object of at
   * most 64 KiB) goes into an event `harness.turn.started`, whose `turnId` all events of the turn have.
   *
   * Every Persistent Dir is refreshed first: what changed in its store comes in, what is uncommitted stays. When one cannot
   * be loaded no turn is open, and all files are as they were.
   *
   * @throws FS_BUSY, FS_ABORTED, FS_INVALID_OPTION, FS_LOAD_FAILED (`cause` is the store's own error), FS_CONFLICT (for this
   * `extraBody` a dir has another store than its pending changes belong to)
   */
  beginTurn(options?: {
    extraBody?: TExtraBody;
    signal?: AbortSignal;
    metadata?: Record<string, unknown>;
  }): Promise<Turn<TExtraBody>>;
  /**
   * Brings the files that users sent with their messages into the session, once for each message, also when two requests
   * or two processes race; gives the messages as the model is to get them. See {@link StageMessagesOptions}.
   *
   * A write or a hook that fails makes it reject, and that message does not count as staged; those before it do.
   *
   * @throws FS_INVALID_OPTION, FS_INVALID_CONTENT (a malformed `data:` URL or base64 text; `fetchFile` failed), FS_BUSY (from
   * inside a hook of the same session), FS_IO_ERROR (the hook failed: `cause` is its own error), FS_ABORTED, and whatever a
   * write throws
   */
  stageMessages<M extends MessageLike>(messages: readonly M[], options?: StageMessagesOptions<TExtraBody, M>): Promise<StagedMessages<M>>;
  /** When it resolves, everything written so far is on the disk. */
  flush(): Promise<void>;
  /**
   * Real folders of the roots, for mounting into a sandbox. Asked for, never shown otherwise. `persistent` is keyed by
   * harnessDir; it loads nothing. Throws FS_CLOSED at once when the handle is closed.
   */
  hostPaths(): { session: string; artifacts: string; persistent: Record<string, string> };
  /**
   * Ends this handle only. Aborts its running turn, waits for its running calls; what comes after is FS_CLOSED. May be called
   * again.
   */
  close(): Promise<void>;
}

export interface SessionArtifacts {
  /** Marked files and all regular files below `/artifacts/`, sorted by path. */
  list(): Promise<ArtifactRef[]>;
  /** FS_NOT_FOUND when there is no such artifact. */
  read(idOrPath: string, options?: ReadFileOptions): Promise<FileData>;
}

// ── Turns ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * One response to one input. `finish` and `abort` may be called any number of times: the first one decides. Afterwards its
 * files and tools are FS_CLOSED.
 *
 * `await using` aborts the turn unless it was finished: fine around `generateText`, wrong around a streamed response, which
 * goes on after the block. There, use `callbacks` and `signal`.
 */
export interface Turn<TExtraBody = unknown> extends AsyncDisposable {
  readonly id: string;
  /** Writes have the source "tool". */
  readonly files: FileWriter;
  /**
   * The same tools, for the AI SDK 5, 6 and 7: their `execute` finds the turn with {@link harnessToolContext}, hooks run, and
   * large results go to files. Tools without `execute` are returned as they are.
   *
   * An output over the limit is a {@link ToolResultFile} at run time, also in `toolResults`, callbacks and UI messages: test
   * with `isToolResultFile`.
   */
  tools<T extends Record<string, ToolLike>>(tools: T, options?: TurnToolsOptions): T;
  /**
   * To spread into `streamText`: finishes the turn in `onFinish`, aborts it in `onError` and `onAbort`, then calls yours. A
   * client that leaves a streamed response makes the SDK call none of them: pass its signal to `beginTurn` as well.
   */
  callbacks(mine?: {
    onFinish?: (event: any) => unknown;
    onError?: (event: any) => unknown;
    onAbort?: (event: any) => unknown;
  }): {
    onFinish: (event: any) => Promise<void>;
    onError: (event: any) => Promise<void>;
    onAbort: (event: any) => Promise<void>;
  };
  /** For tools that are not wrapped, on AI SDK 5 and 6: `experimental_context: { ...turn.context }`. Version 7 drops it. */
  readonly context: HarnessToolContext<TExtraBody>;
  /** For tools that are not wrapped: what `fn` calls finds the turn, also later on. `turn.run(() => generateText(…))` */
  run<R>(fn: () => R): R;
  /**
   * What other programs, such as a shell, changed under the roots while `fn` ran: as events, and sorted by path. Compares
   * stamps, and hashes only where they moved. When `fn` throws, there are the events, and its error.
   */
  track<R>(fn: () => Promise<R>, options?: { source?: string }): Promise<{ result: R; changes: FileChange[] }>;
  /**
   * Waits for running calls of `turn.files`, flushes, and commits everything pending in `after-turn` dirs, also what earlier
   * turns left and what a shell changed. Rejects when the turn was aborted (FS_ABORTED), and when the flush failed; the turn
   * is over then, too. A commit that fails does not make it reject: see `persistence` of the result. `signal` ends the wait:
   * before the flush is through the turn is aborted; after that only the commits fail, with FS_ABORTED.
   */
  finish(options?: { signal?: AbortSignal }): Promise<FinishedTurn>;
  /**
   * Ends the turn, running calls of `turn.files` too. What was written stays; nothing is committed, and changes under
   * `/persistent/` stay pending. After `finish` it does nothing.
   */
  abort(reason?: unknown): Promise<void>;
}

export interface FinishedTurn {
  turnId: string;
  /** What became of the commits; `manual` and `read-only` dirs are "skipped". */
  persistence: PersistenceStatus;
  /** Each file that was read, written or removed at least once in the turn, by its tools or seen by `track`; sorted. */
  files: { read: string[]; written: string[]; edited: string[]; removed: string[] };
  /** Commits the `manual` dirs, the others are "skipped". May be called again: it then retries what is still pending. */
  commitManual(): Promise<PersistenceStatus>;
}

export interface FileChange {
  path: string;
  change: "created" | "updated" | "deleted";
  /** Absent for what was created, and where it is not known. */
  before?: { bytes: number; sha256: string };
  /** Absent for what was deleted. */
  after?: { bytes: number; sha256: string };
}

// ── Tools: context, hooks, large results ───────────────────────────────────────────────────────────────────────────────

/**
 * The turn in which a tool is called: from `options`, the second argument of its `execute`, else from the asynchronous
 * context. `options` itself is what the SDK made it. Outside of a turn it throws FS_NO_CONTEXT, which says how to wire it.
 */
export function harnessToolContext<TExtraBody = unknown>(options?: unknown): HarnessToolContext<TExtraBody>;
/** The same, and undefined outside of a turn. */
export function tryHarnessToolContext<TExtraBody = unknown>(options?: unknown): HarnessToolContext<TExtraBody> | undefined;

/** What a tool works with, inside a turn. */
export interface HarnessToolContext<TExtraBody = unknown> {
  readonly session: HarnessSession<TExtraBody>;
  /** The turn's own: writes have the source "tool", and are FS_CLOSED once the turn has ended. */
  readonly files: FileWriter;
  readonly artifacts: SessionArtifacts;
  /** As given to `beginTurn`, else that of the session handle. */
  readonly extraBody?: TExtraBody;
  readonly turnId: string;
  /** From the call's own options, however the context was found. */
  readonly toolCallId?: string;
  /** Likewise. */
  readonly abortSignal?: AbortSignal;
  /** Wraps the tools of a sub-agent into the same turn. */
  readonly tools: Turn<TExtraBody>["tools"];
}

/** Structural: any version's tool will do. */
export interface ToolLike {
  execute?: ((input: any, options: any) => any) | undefined;
  /** Its results stay as they are, whatever their size. */
  offload?: false;
  /** Its `execute` gives an AsyncIterable though it is no async generator function; needed only with a `before` hook. */
  streaming?: true;
}

export interface TurnToolsOptions {
  hooks?: readonly ToolHook[];
  /** Over the host's, field by field. */
  offload?: false | OffloadOptions;
}

export interface ToolCall {
  toolName: string;
  toolCallId?: string;
  input: unknown;
}

/**
 * Hooks are layers around the call: `before` in order, `after` in reverse. Offload is outside of them all. For a generator
 * tool `after` sees the last value. With a `before` hook a tool that gives an AsyncIterable without saying so (see
 * {@link ToolLike}) is drained.
 */
export interface ToolHook {
  /** A throw or `{ block }` ends the call: no tool, no later hook, no `after`. It then rejects with that text. */
  before?(
    call: ToolCall,
    ctx: HarnessToolContext<any>,
  ): void | { block: string } | { input: unknown } | Promise<void | { block: string } | { input: unknown }>;
  /** Gives the result in place of the one there is; undefined leaves it. A throw makes the call fail. */
  after?(call: ToolCall, result: unknown, ctx: HarnessToolContext<any>): unknown;
}

export interface OffloadOptions {
  /** Results that take more bytes of JSON (or of text, for a string) go to files. Default 16,384; at least 1,024. */
  maxInlineBytes?: number;
  /** How much of the result's beginning a reference shows. Default 512. */
  previewBytes?: number;
  /** Below /artifacts or /session, at most 200 bytes. Default /artifacts/tool-results */
  outputDir?: string;
  /** When the file cannot be written: the tool call fails (default), or the model gets a bounded beginning of the result. */
  onOffloadError?: "fail" | "inline";
  /** Leaves all other results alone. Also picks tools with an `outputSchema` or `toModelOutput`, which are exempt else. */
  only?: (call: ToolCall, result: unknown) => boolean;
  /** For all inline results of a turn; one that would go over it goes to a file, unless a reference would save nothing. */
  turnBudgetBytes?: number;
}

/**
 * The same measuring, file and reference outside of a tool call; undefined when the result may stay inline. `files` is
 * `session.files`, `turn.files` or `ctx.files`; the host's options hold where `options` says nothing.
 */
export function offloadToolResult(
  files: FileWriter,
  call: ToolCall,
  result: unknown,
  options?: OffloadOptions,
): Promise<ToolResultFile | undefined>;

/** What to tell the model about references, in a system prompt. `readTool` names the tool that reads files, if there is one. */
export function offloadInstructions(options?: OffloadOptions & { readTool?: string }): string;

export { isToolResultFile, toolResultFileSchema } from "./client.js";
export type { JsonSketch, ToolResultFile } from "./client.js";

// ── Staging message files ──────────────────────────────────────────────────────────────────────────────────────────────

/**
 * A message of the AI SDK 5, 6 or 7, for the UI (`parts`) or the model (`content`); of version 4, too, with its
 * `experimental_attachments`. Without an `id` it is known as `m_` and 16 hex digits of the sha256 of its JSON.
 */
export interface MessageLike {
  id?: string;
  role: string;
  parts?: readonly unknown[];
  content?: unknown;
}

/**
 * Only messages of the role "user" are looked at, and of them the parts that hold a file: `data:` URLs, base64 text, bytes, a
 * Blob or File, text that is tagged as a file, and with `fetchFile` what is behind an http(s) URL. All else stays as it is;
 * so does a file that came into a message after that was staged.
 */
export interface StageMessagesOptions<TExtraBody = unknown, M extends MessageLike = MessageLike> {
  /**
   * Called for each message with files that was not staged yet. Default: writes each file to
   * `/session/user-input/<message id>/<safe name>`.
   */
  stageMessage?: (input: StageMessageInput<TExtraBody, M>) => Promise<StageMessageResult | void>;
  /** Fetches what a part says is behind a URL. Without it such parts stay in the message. `data:` URLs need nothing. */
  fetchFile?: (url: URL, part: unknown) => Promise<{ content: FileContent; mediaType?: string; name?: string }>;
  extraBody?: TExtraBody;
  /** Runs the hook again for messages that were staged. Default false. */
  restage?: boolean;
  signal?: AbortSignal;
}

export interface StageMessageInput<TExtraBody = unknown, M extends MessageLike = MessageLike> {
  message: M;
  /** The files of this message, in their order. */
  inputFiles: InputFile[];
  /** Its writes have the source "user-message", end with the signal, and are FS_CLOSED once the hook has ended. */
  files: FileWriter;
  session: HarnessSession<TExtraBody>;
  extraBody?: TExtraBody;
  abortSignal?: AbortSignal;
}

export interface InputFile {
  /** As it was given; else from its URL or media type. Anything may be in it: never use it as a path. */
  name: string;
  /**
   * Good as a file name everywhere: letters and digits of any script, `.`, `_`, `-`; at most 120 bytes, with the extension
   * of `name`; unique within its message, also where upper and lower case are the same.
   */
  safeName: string;
  mediaType?: string;
  /** When known without reading it. */
  bytes?: number;
  /** What was fetched is a stream, to be read once; it is cancelled when the hook does not read it. */
  content: FileContent;
}

/** A hook that gives neither files nor a notice leaves its message as it is. */
export interface StageMessageResult {
  /** The part stays in the model's messages as well (images for a vision model). Default false. */
  keep?: boolean | ((file: InputFile) => boolean);
  /** What writes gave; `originalName` and `messageId` are filled in. */
  stagedFiles?: (FileRef & { originalName?: string; messageId?: string })[];
  /** A text for the model, put at the end of the message. Default: lists the paths of `stagedFiles`. "" for none. */
  notice?: string;
  /** For the events of this message. A plain JSON object of at most 64 KiB. */
  metadata?: Record<string, unknown>;
}

export interface StagedFile extends FileRef {
  messageId: string;
  originalName: string;
}

export interface StagedMessages<M extends MessageLike = MessageLike> {
  /** For the model: staged file parts taken out and the notice put in, in copies. Other messages are the same objects. */
  messages: M[];
  /** What this call staged. */
  staged: StagedFile[];
  /** Those in `messages`, in their order; of messages that were staged before, too. */
  notices: string[];
}

// ── Persistent Dirs ────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * When changes go to the store: when a turn finishes (default), only when asked for, or never. Writes to a "read-only" dir are
 * refused (FS_SANDBOX_DENIED).
 */
export type CommitMode = "after-turn" | "manual" | "read-only";

/**
 * A folder under `/persistent/` that every session has, with a store of yours behind it. It is loaded when a turn begins, and
 * by the first access outside of one. A change in it is committed to the store it was loaded from, listed by
 * {@link Persistence.pending}, in conflict, or discarded by request: exactly one of them, also across restarts and crashes.
 *
 * A write or remove through `session.files` while no turn runs commits that one path at once ("after-turn" only). When that
 * fails it rejects with FS_COMMIT_FAILED or FS_CONFLICT, and the change stays, pending.
 *
 * Links, special files and empty folders are not content. Functions are given the `extraBody` of the turn; outside of turns
 * that of the session handle, else that of the handle's last turn.
 */
export type PersistentDir<TExtraBody = unknown> = LocalDir<TExtraBody> | CustomDir<TExtraBody> | StoreDir<TExtraBody>;

/** Made by {@link localDir}. */
export interface LocalDir<T = unknown> {
  readonly harnessDir: string;
  readonly [brand]?: (extraBody: T) => void;
}

/** Made by {@link customDir}. */
export interface CustomDir<T = unknown> {
  readonly harnessDir: string;
  readonly [brand]?: (extraBody: T) => void;
}

/** Made by the stores of other entry points. */
export interface StoreDir<T = unknown> {
  readonly harnessDir: string;
  readonly [brand]?: (extraBody: T) => void;
}

/** Made by {@link projectDir}. */
export interface ProjectDir {
  readonly path: string;
}

/**
 * A folder of the disk. A commit is all or nothing for all users of this package, also across processes and crashes; what
 * other programs changed meanwhile is a conflict, never overwritten. In the folder we keep `.little-harness/`, a reserved name.
 *
 * @throws FS_INVALID_OPTION
 */
export function localDir<T = unknown>(dir: {
  /** Below `/persistent/`, such as "/persistent/user". */
  harnessDir: string;
  /**
   * A relative path lies below `dataDir`, a `projectDir` below `projectRoot`, an absolute path is taken as written. A function
   * is called for each load and commit. It is made when the first commit needs it; once something was loaded from it, a
   * missing folder is FS_LOAD_FAILED: an unmounted disk must not look like one that was emptied.
   */
  sourceDir: string | ProjectDir | ((ctx: { extraBody?: T }) => string);
  /** Default "after-turn". */
  commit?: CommitMode;
}): LocalDir<T>;

/** A `sourceDir` below the host's `projectRoot`. */
export function projectDir(path: string): ProjectDir;

/**
 * A store of your own, in one of two shapes: `load` and `store` for all files at once, or `list`, `read`, `write` and `delete`
 * for each by itself. What a function throws is the `cause` of FS_LOAD_FAILED or FS_COMMIT_FAILED; a
 * {@link PersistentDirConflict} from `store`, `write` or `delete` makes the dir load again, and the commit is tried again
 * unless the same files changed on both sides. From inside a function, writes to the same dir and `session.persistence` are
 * FS_BUSY. `this` is the object that was given.
 *
 * @throws FS_INVALID_OPTION also when the two shapes are mixed, or when the dir is not "read-only" and `store`, or `write` or
 * `delete`, is missing
 */
export function customDir<T = unknown>(dir: CustomDirOptions<T>): CustomDir<T>;

export type CustomDirOptions<T = unknown> = {
  /** Below `/persistent/`, such as "/persistent/user". */
  harnessDir: string;
  /** Default "after-turn". */
  commit?: CommitMode;
  /**
   * Names the backing store, e.g. per user: 1 to 1,024 characters. A change is only committed to the scope it was loaded
   * from. Default: a digest of the JSON of `extraBody`, so give it when `extraBody` differs from call to call.
   */
  scope?(ctx: { extraBody?: T; sessionId: string }): string;
} & (
  | {
      /**
       * All files. Paths are relative to the dir (`notes/a.md`); one that is no path makes the whole load fail. `cursor` is any
       * JSON value; `store` is given it back.
       */
      load(ctx: LoadContext<T>): Promise<
        | FileMap
        | {
            files: FileMap | Iterable<readonly [string, FileContent]> | AsyncIterable<readonly [string, FileContent]>;
            cursor?: unknown;
          }
      >;
      /**
       * Takes all changes or none. Throw {@link PersistentDirConflict} when the store changed. May be called twice for the same
       * changes, with the same `commitId`. Without a new cursor the old one is void: a load precedes the next commit.
       */
      store?(ctx: StoreContext<T>): Promise<void | { cursor?: unknown }>;
    }
  | {
      /**
       * What is in the folder `path` ("" for the dir itself). Paths are relative to the dir, not to `path`; folders are entered.
       * An entry without `version` is read at every load. Called before each commit as well, to compare versions.
       */
      list(
        ctx: LoadContext<T> & { path: string },
      ): Promise<readonly { path: string; kind: "file" | "directory"; version?: string }[]>;
      /** Up to eight at once. */
      read(ctx: LoadContext<T> & { path: string }): Promise<FileContent>;
      /** `ifMatch` is the version that the change is based on; absent when the file is new or `list` gave none. */
      write?(
        ctx: LoadContext<T> & {
          path: string;
          /** Throws FS_TOO_LARGE above 64 MiB: use `open`. */
          readonly content: Uint8Array;
          open(): ReadableStream<Uint8Array>;
          ifMatch?: string;
        },
      ): Promise<void | { version?: string }>;
      delete?(ctx: LoadContext<T> & { path: string; ifMatch?: string }): Promise<void>;
    }
);

/** A record with the prototype of objects or without one, or a Map. Names such as `constructor` and `files` are only names. */
export type FileMap = Record<string, string | Uint8Array> | ReadonlyMap<string, FileContent>;

export interface LoadContext<T = unknown> {
  /** Of the turn; see {@link PersistentDir} for calls outside of one. */
  extraBody?: T;
  sessionId: string;
  harnessDir: string;
  /** Aborted when the turn, `finish` or `commit` is. What a callback brings afterwards is refused. */
  abortSignal?: AbortSignal;
}

export interface StoreContext<T = unknown> extends LoadContext<T> {
  changes: FileChangeSet;
  /** What the last load or commit gave. */
  cursor?: unknown;
  /** The same for every attempt at the same changes: an idempotency key. */
  commitId: string;
}

/** Paths are relative to the dir. The records have no prototype. Of use until the callback has ended. */
export interface FileChangeSet {
  /** Sorted by path. `base` is what the change was made to. */
  readonly entries: readonly {
    path: string;
    change: "created" | "updated" | "deleted";
    bytes?: number;
    sha256?: string;
    base?: FileVersion & { version?: string };
  }[];
  /**
   * Filled while all contents together are at most 64 MiB; above that reading `created` or `updated` throws FS_TOO_LARGE, so
   * that nothing is skipped: use `entries` and `open`.
   */
  readonly created: Record<string, Uint8Array>;
  readonly updated: Record<string, Uint8Array>;
  readonly deleted: string[];
  /** The content of a created or updated file. Throws FS_NOT_FOUND for another path. */
  open(path: string): ReadableStream<Uint8Array>;
}

/** A store throws this to say that the backing files changed since `cursor` or `ifMatch`, and that it applied nothing. */
export class PersistentDirConflict extends Error {
  constructor(paths: readonly string[], options?: ErrorOptions);
  /** Relative to the dir. */
  readonly paths: readonly string[];
}

/** Paths are whole ones, such as "/persistent/user/notes.md". From inside a store's callback all of it is FS_BUSY. */
export interface Persistence {
  /** What was written and has not landed, oldest first. Looks at the files, so it knows what a shell did. */
  pending(): Promise<PendingChange[]>;
  /**
   * Commits pending changes now: of all dirs but "read-only" ones, or of those named. Safe to call at any time, again and
   * again, in another process too. Resolves with "failed" when a dir could not be committed.
   *
   * @throws FS_INVALID_OPTION for a harnessDir that was not declared, FS_ABORTED when the signal was aborted before
   */
  commit(options?: {
    harnessDirs?: readonly string[];
    extraBody?: unknown;
    signal?: AbortSignal;
  }): Promise<PersistenceStatus>;
  /**
   * Files that changed both here and in the store. While a dir has one, none of its changes is sent. `ours` or `theirs` is
   * absent when that side deleted the file.
   */
  conflicts(): Promise<PersistenceConflict[]>;
  /**
   * Ends a conflict: "ours" is kept and goes to the store with the next commit, or gives way to "theirs".
   *
   * @throws FS_NOT_FOUND when the path is not in conflict
   */
  resolve(path: string, side: "ours" | "theirs"): Promise<void>;
  /**
   * Gives up changes: whole dirs, files, or all below a folder. What was created goes, the rest is loaded from the store.
   *
   * @throws FS_INVALID_OPTION when nothing is named or a name is in no Persistent Dir, FS_LOAD_FAILED, FS_CONFLICT when a file
   * of ours that is not named stands where a folder would have to be
   */
  discard(options: { harnessDirs?: readonly string[]; paths?: readonly string[] }): Promise<void>;
}

export interface PersistenceConflict {
  harnessDir: string;
  path: string;
  /** What both sides began with; absent when the file was new, and when it is not known. */
  base?: FileVersion;
  /** What the session holds; absent when it was deleted here. */
  ours?: FileVersion;
  /** What the store holds; absent when it was deleted there. */
  theirs?: FileVersion;
  /** undefined when it is deleted there. FS_NOT_FOUND once the conflict is over. */
  readTheirs(): Promise<FileData | undefined>;
}

export interface FileVersion {
  bytes: number;
  sha256: string;
}

export interface PendingChange {
  harnessDir: string;
  path: string;
  change: "created" | "updated" | "deleted";
  /** Absent for what was deleted. */
  bytes?: number;
  sha256?: string;
  /** When it was first noticed. */
  since: Date;
  /** Commits that failed. */
  attempts: number;
  /** Of the last of them, or why the file cannot be sent at all. */
  lastError?: { code: string; message: string };
}

export interface PersistentDirCommitResult {
  harnessDir: string;
  commit: CommitMode;
  /** "succeeded" also when there was nothing to commit; "skipped" when the dir was not to be committed. */
  status: "skipped" | "succeeded" | "failed";
  /** What reached the store. */
  changes?: { created: number; updated: number; deleted: number };
  /** FS_COMMIT_FAILED (`cause` is the store's own error), FS_CONFLICT, FS_ABORTED, FS_BUSY, or why some files cannot be sent. */
  error?: HarnessFileError;
}

export type PersistenceStatus =
  | { status: "not-configured" }
  | { status: "succeeded"; commits: PersistentDirCommitResult[] }
  | { status: "failed"; commits: PersistentDirCommitResult[]; failedCommits: PersistentDirCommitResult[] };

// ── Events and errors ──────────────────────────────────────────────────────────────────────────────────────────────────

export type HarnessFileEventType =
  | "harness.file.created"
  | "harness.file.updated"
  | "harness.file.deleted"
  | "harness.file.refused"
  | "harness.file.staged_from_host"
  | "harness.file.written_by_tool"
  | "harness.file.staged_from_message"
  | "harness.artifact.created"
  | "harness.filesystem.mounted"
  | "harness.persistent_dir.loaded"
  | "harness.persistent_dir.commit.started"
  | "harness.persistent_dir.commit.succeeded"
  | "harness.persistent_dir.commit.failed"
  | "harness.index.rebuilt";

/** Goes to `onEvent`, to the session's trace.ndjson and to the `node:diagnostics_channel` "little-harness:file". */
export interface HarnessTraceEvent {
  schemaVersion: "lh.trace.v2";
  /** docs/events.md lists them with their metadata. */
  type: HarnessFileEventType | (string & {});
  eventId: string;
  /** Rising within a session, across restarts. */
  sequence: number;
  /** "" for events of the host itself. */
  sessionId: string;
  /** The turn in which it happened. */
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

declare const brand: unique symbol;
