// pi's file operations over a session.
import { randomUUID } from "node:crypto";
import type { FileWriter, HarnessSession } from "../../index.js";
import type { PiFiles } from "../../pi.js";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import { Access } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";
import { WORKING_FOLDER, sessionPath } from "../file-system/session-path.js";
import { append } from "./append.js";
import { firstLines } from "./first-lines.js";
import { moveFile } from "./move-file.js";
import { PiFailure, result } from "./result.js";

type Signal = { signal?: AbortSignal };

const TEMPORARY = `${WORKING_FOLDER}/tmp`;

export function piExecutionFiles(session: HarnessSession<any>): PiFiles {
  const files = (session as Partial<HarnessSession<any>> | undefined)?.files as FileWriter;
  const access = new Access(files);

  /** pi has a code of its own for a folder in the place of a file. */
  const onFile = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_REGULAR_FILE") throw error;
      const place = error.path ?? path;
      const found = await missing(access.version(place, true));
      throw found?.kind === "directory" ? new PiFailure("is_directory", error.message, place) : error;
    }
  };
  const call = <T>(given: unknown, abortSignal: unknown, work: (path: string, signal: Signal) => Promise<T>) =>
    result(async () => {
      const path = sessionPath(given);
      const signal = signalOf(abortSignal, path);
      return onFile(path, () => work(path, signal));
    });

  return {
    readTextFile: (given, abortSignal) =>
      call(given, abortSignal, async (path, signal) => {
        const { content } = await files.read(path, signal);
        return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
      }),
    readTextLines: (given, most) => {
      const { maxLines, abortSignal } = typeof most === "object" && most !== null ? most : { maxLines: most };
      return call(given, abortSignal, (path, signal) =>
        firstLines(files, path, check.count({ maxLines }, "maxLines") ?? Infinity, signal),
      );
    },
    readBinaryFile: (given, abortSignal) =>
      call(given, abortSignal, async (path, signal) => (await files.read(path, signal)).content),
    writeFile: (given, content, abortSignal) =>
      call(given, abortSignal, async (path, signal) => {
        await files.write(path, content, signal);
      }),
    appendFile: (given, content, abortSignal) =>
      call(given, abortSignal, (path, signal) => append(files, path, content, signal)),
    renameFile: (from, to, abortSignal) =>
      call(from, abortSignal, (path, signal) => moveFile(access, path, sessionPath(to), signal)),

    fileInfo: (given, abortSignal) =>
      call(given, abortSignal, async (asked) => {
        const { path, kind, bytes, updatedAt } = await access.version(asked, false);
        if (kind === "other") throw new PiFailure("invalid", `Neither a file nor a folder: ${path}`, path);
        return { name: nameIn(path), path, kind, size: bytes ?? 0, mtimeMs: updatedAt };
      }),
    listDir: (given, abortSignal) =>
      call(given, abortSignal, async (path, signal) =>
        (await files.list(path, signal)).map(({ path: child, kind }) => ({ name: nameIn(child), kind })),
      ),
    exists: (given, abortSignal) =>
      call(given, abortSignal, async (path) => (await missing(access.version(path, false))) !== undefined),
    createDir: (given, options) =>
      call(given, signalIn(options), async (path) => {
        // Also a root, which nobody can make.
        const found = await missing(access.version(path, true));
        if (found?.kind !== "directory") await access.makeFolder(path.replace(/\/+$/, ""));
      }),
    remove: (given, options) =>
      call(given, signalIn(options), (path, signal) => files.remove(path, options && { ...options, ...signal })),
    createTempDir: () => result(() => access.makeFolder(`${TEMPORARY}/${randomUUID()}`)),
    createTempFile: () => result(async () => (await files.write(`${TEMPORARY}/${randomUUID()}`, "")).path),
  };
}

/** Told before anything is looked at, as pi does. */
function signalOf(abortSignal: unknown, path: string): Signal {
  const signal = check.signal({ signal: abortSignal });
  if (signal?.aborted === true) {
    throw new HarnessFileError("FS_ABORTED", `The call was aborted by its signal: ${path}`, {
      path,
      cause: signal.reason,
    });
  }
  return signal === undefined ? {} : { signal };
}

function signalIn(options: unknown): unknown {
  return typeof options === "object" && options !== null ? Reflect.get(options, "abortSignal") : undefined;
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
