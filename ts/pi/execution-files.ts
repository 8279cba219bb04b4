// pi's file operations over a session.
import type { HarnessSession } from "../../index.js";
import type { PiFileInfo, PiFiles } from "../../pi.js";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import { Access, filesOf } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";
import { WORKING_FOLDER, sessionPath } from "../file-system/session-path.js";
import { append } from "./append.js";
import { createDir } from "./create-dir.js";
import { firstLines } from "./first-lines.js";
import { moveFile } from "./move-file.js";
import { canonicalPath, joinPath } from "./paths.js";
import { PiFailure, result } from "./result.js";
import { TEMPORARY, Temporary } from "./temporary.js";

type Signal = { signal?: AbortSignal };
type Work<T> = (path: string, signal: Signal) => Promise<T>;

export function piExecutionFiles(session: HarnessSession<any>): PiFiles {
  const files = filesOf(session);
  const access = new Access(files);
  const temporary = new Temporary(access);

  /** pi has a code of its own for a folder in the place of a file. */
  const onFile = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_REGULAR_FILE") throw error;
      const place = error.path ?? path;
      const found = await missing(access.version(place, true));
      throw found?.kind === "directory" ? new PiFailure("is_directory", error.message, place, error) : error;
    }
  };
  const callWith = <T>(given: unknown, options: unknown, work: Work<T>) =>
    result(async () => {
      const path = sessionPath(given);
      const signal = signalIn(options, path);
      return onFile(path, () => work(path, signal));
    });
  const call = <T>(given: unknown, abortSignal: unknown, work: Work<T>) => callWith(given, { abortSignal }, work);

  return {
    cwd: WORKING_FOLDER,
    absolutePath: (given, abortSignal) => call(given, abortSignal, (path) => access.addressed("absolutePath", path)),
    joinPath: (parts, abortSignal) => call(WORKING_FOLDER, abortSignal, () => joinPath(access, parts)),
    canonicalPath: (given, abortSignal) => call(given, abortSignal, (path) => canonicalPath(access, path)),

    readTextFile: (given, abortSignal) =>
      call(given, abortSignal, async (path, signal) => {
        const { content } = await files.read(path, signal);
        return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
      }),
    readTextLines: (given, most) => {
      const options = typeof most === "object" ? most : { maxLines: most };
      return callWith(given, options, (path, signal) => {
        const maxLines = check.readOptions(options, (each) => check.count(each, "maxLines")) ?? Infinity;
        return firstLines(files, path, maxLines, signal);
      });
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
        return infoOf(path, kind, bytes, updatedAt);
      }),
    listDir: (given, abortSignal) =>
      call(given, abortSignal, async (path, signal) =>
        (await files.list(path, signal)).flatMap(({ path: child, kind, bytes, updatedAt }) =>
          kind === "other" ? [] : infoOf(child, kind, bytes, updatedAt?.getTime()),
        ),
      ),
    exists: (given, abortSignal) =>
      call(given, abortSignal, async (path) => (await missing(access.version(path, false))) !== undefined),
    createDir: (given, options) =>
      callWith(given, options, (path) => {
        const recursive = check.readOptions(
          options,
          (each) => each["recursive"] === undefined || check.flag(each, "recursive"),
        );
        return createDir(access, path, recursive);
      }),
    remove: (given, options) =>
      callWith(given, options, (path, signal) => {
        const how = check.readOptions(options, (each) => ({
          recursive: check.flag(each, "recursive"),
          force: check.flag(each, "force"),
        }));
        return files.remove(path, { ...how, ...signal });
      }),

    createTempDir: (prefix, abortSignal) => call(TEMPORARY, abortSignal, () => temporary.folder(prefix)),
    createTempFile: (options) =>
      callWith(TEMPORARY, options, (_, signal) =>
        temporary.file(
          check.readOptions(options, ({ prefix, suffix }) => ({ prefix, suffix })),
          signal,
        ),
      ),
    cleanup: () => temporary.remove(),
  };
}

/** Told before anything is looked at, as pi does. */
function signalIn(options: unknown, path: string): Signal {
  const signal = check.readOptions(options, ({ abortSignal }) => check.signal({ signal: abortSignal }));
  if (signal?.aborted === true) {
    throw new HarnessFileError("FS_ABORTED", `The call was aborted by its signal: ${path}`, {
      path,
      cause: signal.reason,
    });
  }
  return signal === undefined ? {} : { signal };
}

function infoOf(path: string, kind: PiFileInfo["kind"], bytes = 0, mtimeMs = 0): PiFileInfo {
  return { name: path.slice(path.lastIndexOf("/") + 1), path, kind, size: bytes, mtimeMs };
}
