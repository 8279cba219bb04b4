// The entry "@little-stack/files/pi": adapters for pi. Kept by hand; the compiler checks ts/pi.ts against it.
import type { HarnessSession, HarnessToolContext } from "./index.js";

/** pi's file operations over a session, as `{ ok, value } | { ok, error }`. They never throw, and never reject. */
export function piExecutionFiles(session: HarnessSession<any>): PiFiles;

/**
 * Relative paths are below `/session`. Writes are whole or not at all, as everywhere here. An `abortSignal` stands where pi
 * puts it; one that is aborted gives "aborted".
 */
export interface PiFiles {
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
  /** Of a link itself. */
  fileInfo(
    path: string,
    abortSignal?: AbortSignal,
  ): Promise<
    PiResult<{ name: string; path: string; kind: "file" | "directory" | "symlink"; size: number; mtimeMs: number }>
  >;
  listDir(path: string, abortSignal?: AbortSignal): Promise<PiResult<{ name: string; kind: string }[]>>;
  exists(path: string, abortSignal?: AbortSignal): Promise<PiResult<boolean>>;
  /** With those above it; one that is there is fine. */
  createDir(path: string, options?: { abortSignal?: AbortSignal }): Promise<PiResult<void>>;
  remove(
    path: string,
    options?: { recursive?: boolean; force?: boolean; abortSignal?: AbortSignal },
  ): Promise<PiResult<void>>;
  createTempDir(): Promise<PiResult<string>>;
  createTempFile(): Promise<PiResult<string>>;
}

export type PiResult<T> =
  | { ok: true; value: T }
  | {
      ok: false;
      error: {
        code:
          | "aborted"
          | "not_found"
          | "permission_denied"
          | "not_directory"
          | "is_directory"
          | "invalid"
          | "not_supported"
          | "unknown";
        message: string;
        path?: string;
      };
    };

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
