// The entry "./pi", and the file system that pi takes: its shape in our own words, so that pi is no dependency.
import type { HarnessSession, HarnessToolContext } from "@little-stack/files";
import {
  type PiFileError,
  type PiFileInfo,
  type PiFiles,
  type PiResult,
  piExecutionFiles,
  piHooks,
} from "@little-stack/files/pi";
import { same } from "./expect.js";

declare const session: HarnessSession<{ userId: string }>;
declare const context: HarnessToolContext;

/** A class there, so an error has all that an Error has. */
declare class Failure extends Error {
  code:
    | "aborted"
    | "not_found"
    | "permission_denied"
    | "not_directory"
    | "is_directory"
    | "invalid"
    | "not_supported"
    | "unknown";
  path?: string | undefined;
}
type Outcome<T> = Promise<{ ok: true; value: T } | { ok: false; error: Failure }>;
type OnPath<T> = (path: string, abortSignal?: AbortSignal) => Outcome<T>;
type Put = (path: string, content: string | Uint8Array, abortSignal?: AbortSignal) => Outcome<void>;
interface Signalled {
  abortSignal?: AbortSignal;
}
interface Info {
  name: string;
  path: string;
  kind: "file" | "directory" | "symlink";
  size: number;
  mtimeMs: number;
}

export interface Wanted {
  cwd: string;
  absolutePath: OnPath<string>;
  canonicalPath: OnPath<string>;
  joinPath: (parts: string[], abortSignal?: AbortSignal) => Outcome<string>;
  readTextFile: OnPath<string>;
  readTextLines: (path: string, options?: Signalled & { maxLines?: number }) => Outcome<string[]>;
  readBinaryFile: OnPath<Uint8Array>;
  writeFile: Put;
  appendFile: Put;
  fileInfo: OnPath<Info>;
  listDir: OnPath<Info[]>;
  exists: OnPath<boolean>;
  createDir: (path: string, options?: Signalled & { recursive?: boolean }) => Outcome<void>;
  remove: (path: string, options?: Signalled & { recursive?: boolean; force?: boolean }) => Outcome<void>;
  createTempDir: (prefix?: string, abortSignal?: AbortSignal) => Outcome<string>;
  createTempFile: (options?: Signalled & { prefix?: string; suffix?: string }) => Outcome<string>;
  cleanup: () => Promise<void>;
}

/** Handed to pi as it is, and with a shell beside it. */
export const files: Wanted = piExecutionFiles(session);
export const environment: Wanted & { exec(command: string): Promise<number> } = {
  ...piExecutionFiles(session),
  exec: async () => 0,
};

same<Exclude<keyof PiFiles, keyof Wanted>, "renameFile">();
same<PiFileInfo, Info>();

export async function pi(): Promise<void> {
  const own = piExecutionFiles(session);
  same<typeof own, PiFiles>();
  same<typeof own.cwd, "/session">();
  const text = await own.readTextFile("a");
  same<typeof text, PiResult<string>>();
  if (text.ok) same<typeof text.value, string>();
  else {
    same<typeof text.error, PiFileError>();
    same<typeof text.error.path, string | undefined>();
  }
  await own.readTextLines("a", 5);
  // @ts-expect-error a number or options
  await own.readTextLines("a", "5");
  // @ts-expect-error nobody sets it
  own.cwd = "/session";
  const { toolCall } = piHooks(context);
  const blocked = await toolCall({});
  same<typeof blocked, { block: true; reason: string } | undefined>();
}
