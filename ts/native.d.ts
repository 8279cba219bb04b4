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

// ── Below the file tools ───────────────────────────────────────────────────────────────────────────────────────────────
// One call for each operation of a tool. `version` is opaque, safe to compare across processes, and at most 200 bytes of
// ASCII: hand it back as `ifVersion`, never take it apart. Text that crosses into the addon must be well-formed (no lone
// surrogates). Numbers are whole and were checked on this side; the caps are hard.

export interface NativeSession {
  /** What a path names: `path` as on the disk; `key` with the relative links in it resolved, so that one file has one key
   * whatever its spelling. What does not exist (yet) is named in NFC. */
  target(path: string): Promise<NativeTarget | Failure>;
  /** What stands at a path, with its version. `follow` false: a link itself. FS_NOT_FOUND when nothing does. */
  version(path: string, follow: boolean): Promise<NativeVersioned | Failure>;
  /** As `write`, and gives the version and, when asked, the text before. Copies `bytes` before it returns.
   * FS_STALE_VERSION when `ifVersion` no longer holds or the file is gone; FS_ALREADY_EXISTS for `ifNoneMatch`. */
  writeVersioned(
    path: string,
    bytes: Uint8Array,
    options: NativeVersionedWriteOptions,
    cancel?: NativeCancel,
  ): Promise<NativeVersionedWrite | Failure>;
  /** Makes a folder and those above it; one that is there is fine. Gives its path as on the disk. */
  makeFolder(path: string): Promise<string | Failure>;
  /** The same in batches. Checks the path; stages nothing yet. */
  beginWriteVersioned(
    path: string,
    options: NativeVersionedWriteOptions,
    cancel?: NativeCancel,
  ): NativeVersionedWriting | Failure;
  /** Literal edits, all against the text as it was, none overlapping another, all or none. In this order: FS_INVALID_OPTION
   * (no edits, an empty oldString, one equal to its newString), FS_STALE_VERSION (also for a missing file when ifVersion is
   * given; else FS_NOT_FOUND), FS_TOO_LARGE (over 64 MiB), FS_NOT_TEXT, FS_EDIT_NOT_FOUND, FS_AMBIGUOUS_EDIT (says how many
   * and at which lines), FS_INVALID_OPTION (edits that overlap, or change nothing). */
  edit(
    path: string,
    edits: NativeEdit[],
    options: NativeEditOptions,
    cancel?: NativeCancel,
  ): Promise<NativeEdited | Failure>;
  /** Lines of a text file in constant memory. FS_NOT_TEXT says what the file is instead (UTF-16, Latin-1, binary …). */
  lineWindow(
    path: string,
    options: NativeLineWindowOptions,
    cancel?: NativeCancel,
  ): Promise<NativeLineWindow | Failure>;
  /** Bytes of a text file, in whole characters. */
  byteWindow(
    path: string,
    options: NativeByteWindowOptions,
    cancel?: NativeCancel,
  ): Promise<NativeByteWindow | Failure>;
  /** What an RFC 6901 pointer names in a JSON or NDJSON file, in constant memory. In NDJSON the first token is the number
   * of the value, from 0. FS_INVALID_OPTION: not a pointer; FS_NOT_FOUND: names nothing (says how far it leads);
   * FS_NOT_TEXT: not JSON (says where). */
  jsonWindow(
    path: string,
    options: NativeJsonWindowOptions,
    cancel?: NativeCancel,
  ): Promise<NativeJsonWindow | Failure>;
  /** RFC 9535 JSONPath over a JSON file or each value of an NDJSON file (any size; a value has at most 64 MiB, 127
   * levels, and 512 MiB in memory: else FS_TOO_LARGE). FS_INVALID_OPTION: not a JSONPath, or one that could take too long on this
   * file; FS_NOT_TEXT: not JSON (says where). Numbers are shown as JavaScript has them. */
  query(path: string, options: NativeQueryOptions, cancel?: NativeCancel): Promise<NativeQueryResult | Failure>;
  /** Lines that match a regular expression (Rust syntax) in the file or all files below the folder `path`. Links are not
   * followed. FS_INVALID_OPTION: not a pattern, or not a glob. */
  grep(path: string, options: NativeGrepOptions, cancel?: NativeCancel): Promise<NativeGrepResult | Failure>;
  /** A page of a listing in the order of the paths' bytes, without what the index knows (no sha256, mediaType, artifact). */
  page(path: string, options: NativePageOptions, cancel?: NativeCancel): Promise<NativePage | Failure>;
}

export interface NativeTarget {
  path: string;
  key: string;
}

export interface NativeVersioned {
  /** As on the disk. */
  path: string;
  kind: "file" | "directory" | "symlink" | "other";
  version: string;
  /** A file's size. */
  bytes?: number;
  /** Last change of the content, in milliseconds since 1970. */
  updatedAt: number;
}

export interface NativeVersionedWriteOptions extends NativeWriteOptions {
  ifVersion?: string;
  /** Asks for the text before where it has at most so many bytes and is text. 0 or absent: not asked. */
  beforeBytes?: number;
}

export interface NativeVersionedWrite {
  written: NativeWritten;
  version: string;
  operation: "create" | "update";
  /** Absent for a new file, for what is not text or longer than `beforeBytes`. */
  before?: string;
}

/** Used like NativeWrite. */
export interface NativeVersionedWriting {
  push(batch: Uint8Array): Promise<null | Failure>;
  finish(batch?: Uint8Array): Promise<NativeVersionedWrite | Failure>;
  abort(): Promise<null>;
}

export interface NativeEdit {
  oldString: string;
  newString: string;
  /** false: `oldString` must be there exactly once. */
  replaceAll: boolean;
}

export interface NativeEditOptions {
  /** Absent: whatever is there now is edited; one of two editors at a time all the same. */
  ifVersion?: string;
  source: string;
  origin: "host" | "tool" | "message";
  turnId?: string;
  /** The most that `diff` has, in bytes. */
  diffBytes: number;
}

export interface NativeEdited {
  written: NativeWritten;
  version: string;
  /** Unified, three lines of context, cut on a whole line at `diffBytes`. */
  diff: string;
  diffTruncated: boolean;
  /** How many places were changed, of all edits together. */
  replacements: number;
  /** 1-based. */
  firstChangedLine: number;
}

export interface NativeLineWindowOptions {
  /** First line, from 1. */
  offset: number;
  /** The most lines. */
  limit: number;
  /** The most characters (code points) of a line. */
  maxLineCharacters: number;
  /** The most bytes of `text`, at least 4. A first line that does not fit is cut, so that there is always progress. */
  maxBytes: number;
}

export interface NativeLineWindow {
  path: string;
  /** Of the file when it was opened; what is added while it is read is not looked at. */
  version: string;
  bytes: number;
  /** An image or PDF, known by its first bytes ("image/png" …): then there is no text and all counts are 0. */
  media?: string;
  /** The lines joined by "\n", without line ends of their own (LF, CRLF, CR), without a BOM. Split it at "\n". */
  text: string;
  /** First and last line shown, from 1; both 0 when none is (an empty file, an offset past the end). */
  firstLine: number;
  lastLine: number;
  /** Exact, also past the cap. A final line end adds no line. */
  totalLines: number;
  /** Ended before `limit` lines by `maxBytes`. */
  byteCapped: boolean;
  /** Lines that were cut, in order. */
  cutLines: NativeCutLine[];
  lineEnding: "lf" | "crlf" | "cr" | "mixed" | "none";
  finalNewline: boolean;
  bom: boolean;
}

export interface NativeCutLine {
  line: number;
  /** Of the whole line, in code points. */
  characters: number;
  /** In the file, of the first byte that is not shown: where a byte window goes on. */
  byteOffset: number;
}

export interface NativeByteWindowOptions {
  /** From 0. Inside a character: from that character's first byte. */
  offset: number;
  /** The most bytes, at least 4. */
  limit: number;
}

export interface NativeByteWindow {
  path: string;
  version: string;
  /** Of the file. */
  bytes: number;
  media?: string;
  /** With a BOM, if the window has it: windows put together give the file. */
  text: string;
  /** Of the first byte shown, and of the byte after the last one. `end === bytes`: that was all. An offset past the end: both
   * are `bytes`. */
  start: number;
  end: number;
}

export interface NativeJsonWindowOptions {
  /** "" is the whole file. */
  pointer: string;
  /** First item, from 0; of a string: first character. */
  offset: number;
  /** The most items; of a string: characters. */
  limit: number;
  /** The most bytes of the keys and values that are shown, at least 64. */
  maxBytes: number;
}

export type NativeJsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

export interface NativeJsonWindow {
  path: string;
  version: string;
  bytes: number;
  format: "json" | "ndjson";
  /** Of what the pointer names; "ndjson" for the whole of an NDJSON file. */
  type: NativeJsonType | "ndjson";
  /** Items of an object, array or NDJSON file, or characters of a string: exact. 1 for other scalars. */
  total: number;
  /** Of an object, array or NDJSON file: the items shown. */
  items: NativeJsonItem[];
  /** Of a string: the characters shown, decoded. Of another scalar: its JSON text. */
  text?: string;
  /** Where to go on; absent when nothing is left. */
  nextOffset?: number;
}

export interface NativeJsonItem {
  /** A member's name, decoded; cut at 1,024 bytes. */
  key?: string;
  /** Of the item; where `key` was cut, of the object that it is in. */
  pointer: string;
  type: NativeJsonType;
  /** Of an object or array: how many items; of a string: how many bytes stand between its quotes. */
  size?: number;
  /** Compact JSON. Absent where the item alone is too long: read its pointer. */
  json?: string;
  /** Of the compact JSON. */
  bytes: number;
}

export interface NativeQueryOptions {
  /** JSONPath. */
  expression: string;
  /** The most matches shown. */
  limit: number;
  /** The most bytes of paths and JSON shown, at least 64. */
  maxBytes: number;
}

export interface NativeQueryResult {
  path: string;
  version: string;
  format: "json" | "ndjson";
  /** Exact. */
  total: number;
  /** In document order; ended by `limit` or `maxBytes` when shorter than `total`. */
  matches: NativeQueryMatch[];
}

export interface NativeQueryMatch {
  /** Normalized, as RFC 9535 defines it. */
  path: string;
  /** As an RFC 6901 pointer for `jsonWindow`; in NDJSON with the value's number in front. */
  pointer: string;
  /** NDJSON: the line, from 1. */
  line?: number;
  type: NativeJsonType;
  /** Compact JSON. Absent where the match alone is too long: read its pointer. */
  json?: string;
  /** Of the compact JSON. */
  bytes: number;
}

export interface NativeGrepOptions {
  pattern: string;
  ignoreCase: boolean;
  /** Only files that match: without a slash by name at any depth, else by path below the folder. */
  glob?: string;
  /** Lines before and after each match, at most 20. */
  context: number;
  /** The most matching lines shown. */
  limit: number;
  /** The most characters of a line. */
  maxLineCharacters: number;
  /** The most bytes of paths and lines shown. */
  maxBytes: number;
}

export interface NativeGrepResult {
  /** Files with shown lines, in the order of their paths. */
  files: NativeGrepFile[];
  /** Matching lines and files with any, of all files. Exact unless `complete` is false. */
  totalMatches: number;
  totalFiles: number;
  /** Files looked into, without those below. */
  searchedFiles: number;
  /** Left out: binary (a NUL in the first 8 KiB, and no UTF-16 BOM), and unreadable or with a line over 64 MiB. */
  binaryFiles: number;
  skippedFiles: number;
  /** Fewer lines are shown than match. */
  truncated: boolean;
  /** false: all shown lines were found and counting took too long (over 2 s more), so the totals are at least those. */
  complete: boolean;
}

export interface NativeGrepFile {
  path: string;
  lines: NativeGrepLine[];
}

export interface NativeGrepLine {
  /** From 1. */
  line: number;
  /** Without its line end; not UTF-8 shows as U+FFFD. */
  text: string;
  /** false: context. */
  match: boolean;
  /** The line is longer than what is shown: its beginning, or the part around the first match. */
  cut: boolean;
  /** In the file, of the first byte shown (not in UTF-16 files). */
  byteOffset: number;
}

export interface NativePageOptions {
  recursive: boolean;
  /** Glob on the path below the folder. */
  pattern?: string;
  /** Entries to leave out at the beginning. */
  offset: number;
  /** The most entries. */
  limit: number;
}

export interface NativePage {
  /** The folder, as on the disk. */
  path: string;
  entries: NativeEntry[];
  /** Of all pages: exact. */
  total: number;
}
