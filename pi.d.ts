// The entry "@little-stack/files/pi": adapters for pi. Kept by hand; the compiler checks ts/pi.ts against it.
import type { HarnessSession, HarnessToolContext } from "./index.js";

/**
 * pi's file operations over a session, as `{ ok, value } | { ok, error }`. They never throw, and never reject. What they are
 * has the shape of pi's own `FileSystem`, and can be handed to it as that.
 */
export function piExecutionFiles(session: HarnessSession<any>): PiFiles;

/**
 * Relative paths are below `cwd`; ".." is refused, as everywhere here ("invalid"). Writes are whole or not at all. An
 * `abortSignal` stands where pi puts it; one that is aborted gives "aborted".
 */
export interface PiFiles {
  readonly cwd: "/session";
  /** The whole path that a text names; nothing has to be there, and links are not followed. */
  absolutePath(path: string, abortSignal?: AbortSignal): Promise<PiResult<string>>;
  /** Relative parts make a relative path. */
  joinPath(parts: string[], abortSignal?: AbortSignal): Promise<PiResult<string>>;
  /** Where links lead. One that leads nowhere: "not_found"; one that leaves its root: "permission_denied". */
  canonicalPath(path: string, abortSignal?: AbortSignal): Promise<PiResult<string>>;
  readTextFile(path: string, abortSignal?: AbortSignal): Promise<PiResult<string>>;
  /** The first `maxLines` lines, without their ends (LF, CRLF or CR). Takes pi's options as well. */
  readTextLines(
    path: string,
    maxLines?: number | { maxLines?: number; abortSignal?: AbortSignal },
  ): Promise<PiResult<string[]>>;
  readBinaryFile(path: string, abortSignal?: AbortSignal): Promise<PiResult<Uint8Array>>;
  writeFile(path: string, content: string | Uint8Array, abortSignal?: AbortSignal): Promise<PiResult<void>>;
  /** One whole write of what was there and what is added; of several who append at once none is lost. */
  appendFile(path: string, content: string | Uint8Array, abortSignal?: AbortSignal): Promise<PiResult<void>>;
  /**
   * A file is written at its new path as a whole, also over another one, then removed at the old one; onto itself it stays.
   * Others: "not_supported".
   */
  renameFile(from: string, to: string, abortSignal?: AbortSignal): Promise<PiResult<void>>;
  /** Of a link itself. What is neither file, folder nor link: "invalid". */
  fileInfo(path: string, abortSignal?: AbortSignal): Promise<PiResult<PiFileInfo>>;
  /** Sorted by name. Links for themselves; what is neither file, folder nor link is left out. */
  listDir(path: string, abortSignal?: AbortSignal): Promise<PiResult<PiFileInfo[]>>;
  exists(path: string, abortSignal?: AbortSignal): Promise<PiResult<boolean>>;
  /**
   * With those above it; one that is there is fine. With `recursive: false` the folder alone: "not_found" without the one
   * above, "invalid" when something is there. Of several who do that at once more than one may succeed.
   */
  createDir(path: string, options?: { recursive?: boolean; abortSignal?: AbortSignal }): Promise<PiResult<void>>;
  remove(
    path: string,
    options?: { recursive?: boolean; force?: boolean; abortSignal?: AbortSignal },
  ): Promise<PiResult<void>>;
  /** A new one in `/session/tmp`, with a random name after `prefix` (default "tmp-"). */
  createTempDir(prefix?: string, abortSignal?: AbortSignal): Promise<PiResult<string>>;
  /** The same, an empty file; its random name stands between `prefix` and `suffix` (default ""). */
  createTempFile(options?: {
    prefix?: string;
    suffix?: string;
    abortSignal?: AbortSignal;
  }): Promise<PiResult<string>>;
  /** Removes what `createTempDir` and `createTempFile` of this object made, as far as it can. May be called again. */
  cleanup(): Promise<void>;
}

export interface PiFileInfo {
  name: string;
  path: string;
  kind: "file" | "directory" | "symlink";
  /** Of a file in bytes, else 0. */
  size: number;
  mtimeMs: number;
}

export type PiResult<T> = { ok: true; value: T } | { ok: false; error: PiFileError };

/** Its `cause` is the {@link HarnessFileError} behind it, if there is one. */
export interface PiFileError extends Error {
  readonly code:
    | "aborted"
    | "not_found"
    | "permission_denied"
    | "not_directory"
    | "is_directory"
    | "invalid"
    | "not_supported"
    | "unknown";
  readonly path?: string;
}

/**
 * Handlers for pi's events, inside a turn (`turn.context`).
 *
 * - `tool_call` blocks writes and edits (`write`, `edit`) that leave the managed roots, and those of a file that was not read
 *   before or has changed since. `read` calls are taken note of.
 * - `tool_result` puts texts that are too large for the model into a file; `details.file` then holds the reference.
 */
export function piHooks(context: HarnessToolContext<any>): {
  toolCall(event: unknown): Promise<{ block: true; reason: string } | undefined>;
  toolResult(event: unknown): Promise<{ content: unknown[]; details?: unknown } | undefined>;
};
