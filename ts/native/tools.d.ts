// Below the file tools.
// One call for each operation of a tool. `version` is opaque, safe to compare across processes, and at most 200 bytes of
// ASCII: hand it back as `ifVersion`, never take it apart. Text that crosses into the addon must be well-formed (no lone
// surrogates). Numbers are whole and were checked on this side; the caps are hard.
import type { Failure } from "./failure.js";
import type { NativeEntry, NativeWrite, NativeWriteOptions, NativeWritten } from "./files.js";
import type { NativeCancel } from "../native.js";

export interface NativeSessionTools {
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
