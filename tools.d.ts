// The entry "@little-stack/files/tools": the file tools of an agent, and what they are made of. Kept by hand; the compiler
// checks ts/tools.ts against it.
import type { FileRef, FsErrorCode, HarnessSession, ToolLike } from "./index.js";

// ── The tools an agent uses ────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Tools for the AI SDK 5, 6 and 7, to be wrapped like others: `turn.tools({ ...fileTools(), ...mine })`. They work on the
 * files of the turn in which they are called (FS_NO_CONTEXT outside of one).
 *
 * - A result is text, bounded by itself, and never goes to a file. When there is more it ends with how to go on:
 *   `Lines 1-2000 of 5000000; continue with offset: 2001`. An image or a PDF is a {@link FileAttachment}.
 * - What is refused rejects with a {@link HarnessFileError} whose text says the next step.
 * - Make them once, and keep the session's handle: what was read is remembered for each handle.
 *
 * | Tool | Input |
 * | --- | --- |
 * | `read` | `{ file_path, offset?, limit? }`: lines from the 1-based `offset` |
 * | | `{ file_path, byte_offset, byte_limit? }`: bytes from the 0-based `byte_offset`, whole characters |
 * | | `{ file_path, pointer, offset?, limit? }`: what an RFC 6901 pointer names in a JSON file; items from the 0-based `offset` |
 * | `query` | `{ file_path, jsonpath, limit? }`: RFC 9535 JSONPath over a JSON or NDJSON file |
 * | `write` | `{ file_path, content }` |
 * | `edit` | `{ file_path, old_string, new_string, replace_all? }` or `{ file_path, edits: [{ old_string, new_string, replace_all? }] }` |
 * | `list` | `{ path, recursive?, offset?, limit? }` |
 * | `glob` | `{ pattern, path? }` |
 * | `grep` | `{ pattern, path?, glob?, ignore_case?, context?, limit? }` |
 * | `remove` | `{ path, recursive? }` |
 * | `todo_write` | `{ todos?: [{ content, status }] }`; without any it gives the list |
 *
 * @throws FS_INVALID_OPTION
 */
export function fileTools<const N extends Partial<Record<FileToolName, string>> = {}>(
  options?: FileToolsOptions<N>,
): {
  [K in FileToolName as N[K] extends string ? N[K] : K]: ToolLike & {
    description: string;
    inputSchema: any;
    execute: (input: any, options: any) => any;
  };
};

export type FileToolName = "read" | "query" | "write" | "edit" | "list" | "glob" | "grep" | "remove" | "todo_write";

export interface FileToolsOptions<N = {}> {
  /** Default `readBeforeWrite()`; `false` leaves writes and edits unguarded. */
  observation?: ObservationPolicy | false;
  /** Upper limits of one result; a model may ask for less. Integers of 1 or more. */
  limits?: {
    /** Lines of a window. Default 2,000. */
    lines?: number;
    /** Characters shown of a line. Default 2,000. */
    lineCharacters?: number;
    /** Bytes of a whole result. Default 51,200; at least 1,024, at most 1,048,576. */
    bytes?: number;
    /** Entries of a listing, paths of a glob. Default 1,000. */
    entries?: number;
    /** Matches of `grep` and `query`. Default 200. */
    matches?: number;
  };
  /** Renames tools for the model, e.g. `{ read: "read_file" }`. */
  names?: N;
  /** Where the plan file goes; default `/session/plans`. A host folder only when it is named here. */
  plan?: { dir?: string | { host: string } };
}

/** An item of the plan; `todo_write` gives all of them. */
export interface Todo {
  content: string;
  status: "pending" | "in_progress" | "completed" | "cancelled";
}

/** What `read` gives of an image or a PDF; `toModelOutput` makes the SDK's own file part of it. */
export interface FileAttachment {
  type: "harness.file_attachment";
  path: string;
  mediaType: string;
  bytes: number;
  /** Base64. */
  data: string;
}

// ── The seam below them ────────────────────────────────────────────────────────────────────────────────────────────────

/** The files of a session by opaque targets and versions, with guards that hold across processes. */
export function sessionFileSystem(session: HarnessSession<any>): FileSystem;

/** `targetKey` is opaque: the same file has the same key. `displayPath` is to be shown. */
export interface FsTarget {
  readonly targetKey: string;
  readonly displayPath: string;
}

/** Opaque: hand it back as it is. Another one after every change, also one that keeps size and time. */
export type FsVersion = string & { readonly __fsVersion: true };

export interface FsInfo {
  version: FsVersion;
  type: "file" | "directory" | "other";
  size?: number;
}

/** Without an intent a write is unconditional. */
export type FsWriteIntent = { createIfAbsent: true } | { replaceIfVersion: FsVersion };

export interface FsEdit {
  oldString: string;
  newString: string;
  replaceAll?: boolean;
}

export interface FileSystem {
  /** Follows links as reads do; the file need not exist. FS_NOT_FOUND when a folder of the path is a file, or for "". */
  resolve(path: string): Promise<FsTarget>;
  /** Whether `b` is `a` or lies below it. */
  contains(a: FsTarget, b: FsTarget): boolean;
  /** undefined when nothing is there. */
  stat(target: FsTarget): Promise<FsInfo | undefined>;
  /** Describes a link itself. */
  lstat(path: string): Promise<(Omit<FsInfo, "type"> & { type: FsInfo["type"] | "symlink" }) | undefined>;
  /** Text of at most 512 MiB, with a BOM if it has one. FS_NOT_FOUND, FS_NOT_TEXT, FS_NOT_REGULAR_FILE, FS_TOO_LARGE */
  readText(target: FsTarget, options?: { signal?: AbortSignal }): Promise<{ text: string; version: FsVersion }>;
  /** In pieces of whole characters, of any size. */
  streamText(target: FsTarget, options?: { signal?: AbortSignal }): AsyncIterable<string>;
  /** FS_TOO_LARGE when there is more: never a cut. */
  readBytes(target: FsTarget, options: { maxBytes: number; signal?: AbortSignal }): Promise<Uint8Array>;
  /**
   * `createIfAbsent` onto something is FS_NOT_OBSERVED, `replaceIfVersion` of anything else than that version
   * FS_STALE_VERSION. `before` is the text that was replaced: null for a new file, for what is not text, and when either side
   * has 10 MiB or more.
   */
  writeText(
    target: FsTarget,
    text: string,
    options?: { expected?: FsWriteIntent; signal?: AbortSignal },
  ): Promise<{ operation: "create" | "update"; version: FsVersion; before: string | null; ref: FileRef }>;
  /**
   * Literal edits, all matched against the file as it is, disjoint, in one step. Bytes outside of the matches stay as they are.
   * FS_STALE_VERSION (also when the file is gone) comes before FS_EDIT_NOT_FOUND and FS_AMBIGUOUS_EDIT.
   */
  editText(
    target: FsTarget,
    edits: readonly FsEdit[],
    options?: { expected?: { version: FsVersion }; signal?: AbortSignal },
  ): Promise<{ version: FsVersion; diff: string; ref: FileRef }>;
  /** Direct children, sorted by the bytes of their names. FS_NOT_DIRECTORY */
  listDir(
    target: FsTarget,
  ): Promise<{ name: string; type: FsInfo["type"] | "symlink"; target: FsTarget; size?: number }[]>;
}

// ── Read before write ──────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Listens to the tools; keeps no file state of its own and does no I/O. The methods are the listeners of `fs/write-intent`,
 * `fs/edit-intent` and `fs/observed`. The first two decide, `next` gives the decision without them (undefined: no guard). What
 * they throw is the refusal, a plain Error's message as FS_SANDBOX_DENIED; what is no decision is refused as well. The last
 * one only takes note, and what it throws is a warning of the process.
 *
 * `actor` is whose view it is: the session handle of the turn. Hold it weakly.
 */
export interface ObservationPolicy {
  writeIntent(target: FsTarget, actor: object, next: () => FsWriteIntent | undefined): FsWriteIntent | undefined;
  editIntent(
    target: FsTarget,
    actor: object,
    next: () => { version: FsVersion } | undefined,
  ): { version: FsVersion } | undefined;
  observed(target: FsTarget, observation: { present: FsVersion } | { absent: true }, actor: object): void;
}

/**
 * | Seen | write | edit |
 * | --- | --- | --- |
 * | never | only a new file | FS_NOT_OBSERVED |
 * | absent | only a new file | FS_NOT_FOUND |
 * | a version | only that version | only that version |
 *
 * Any window of a file counts as seen; own writes and edits renew it.
 */
export function readBeforeWrite(): ObservationPolicy;

// ── Truncation ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Like pi's: lines end at LF, an LF at the very end adds none, sizes are bytes of UTF-8. `Infinity` is no limit. */
export interface TruncationResult {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  /** truncateTail: the last line alone is over the limit, and cut at its start. */
  lastLinePartial: boolean;
  /** truncateHead: the first line alone is over the limit; `content` is empty. */
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
}

export const DEFAULT_MAX_LINES: 2000;
export const DEFAULT_MAX_BYTES: 51200;
/** The beginning, in whole lines. */
export function truncateHead(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult;
/** The end, in whole lines. */
export function truncateTail(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult;
/** A longer line is cut on a whole character and ends with "... [truncated]". Default 500 characters (UTF-16). */
export function truncateLine(line: string, maxCharacters?: number): string;
/** `512B`, `1.5KB`, `3.0MB` */
export function formatSize(bytes: number): string;

// ── AI SDK 7's sandbox ─────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * AI SDK 7's `SandboxSession` over a session, for `experimental_sandbox`. Relative paths are below `/session`. The file half
 * works; `run` and `spawn` reject with FS_INVALID_OPTION.
 */
export function sandboxFiles(session: HarnessSession<any>): any;

export type { FsErrorCode };
