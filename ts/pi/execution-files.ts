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
      const found = await missing(access.version(path, true));
      throw found?.kind === "directory" ? new PiFailure("is_directory", error.message, path) : error;
    }
  };
  const fileCall = <T>(given: unknown, work: (path: string) => Promise<T>) =>
    result(async () => {
      const path = sessionPath(given);
      return onFile(path, () => work(path));
    });

  return {
    readTextFile: (given) =>
      fileCall(given, async (path) => {
        const { content } = await files.read(path);
        return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
      }),
    readTextLines: (given, maxLines) =>
      fileCall(given, (path) => {
        const most = check.count({ maxLines }, "maxLines") ?? Infinity;
        return firstLines(files, path, most);
      }),
    readBinaryFile: (given) => fileCall(given, async (path) => (await files.read(path)).content),
    writeFile: (given, content) =>
      fileCall(given, async (path) => {
        await files.write(path, content);
      }),
    appendFile: (given, content) => fileCall(given, (path) => append(files, path, content)),
    renameFile: (from, to) => fileCall(from, (path) => moveFile(files, path, sessionPath(to))),

    fileInfo: (given) =>
      result(async () => {
        const { path, kind, bytes, updatedAt } = await access.version(sessionPath(given), false);
        if (kind === "other") throw new PiFailure("invalid", `Neither a file nor a folder: ${path}`, path);
        return { name: nameIn(path), path, kind, size: bytes ?? 0, mtimeMs: updatedAt };
      }),
    listDir: (given) =>
      result(async () =>
        (await files.list(sessionPath(given))).map(({ path, kind }) => ({ name: nameIn(path), kind })),
      ),
    exists: (given) => result(async () => (await missing(access.version(sessionPath(given), false))) !== undefined),
    createDir: (given) =>
      result(async () => {
        await access.makeFolder(sessionPath(given));
      }),
    remove: (given, options) => fileCall(given, (path) => files.remove(path, options)),
    createTempDir: () => result(() => access.makeFolder(`${TEMPORARY}/${randomUUID()}`)),
    createTempFile: () => result(async () => (await files.write(`${TEMPORARY}/${randomUUID()}`, "")).path),
  };
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
