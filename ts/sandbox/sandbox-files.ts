// AI SDK 7's `SandboxSession` over the files of a session. Its methods take one object each; what is missing is null.
import type { FileContent, HarnessSession } from "../../index.js";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import { Access, filesOf } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";
import { WORKING_FOLDER, sessionPath } from "../file-system/session-path.js";
import { encoded, decoded } from "./encodings.js";
import { linesOf } from "./lines-of.js";

interface Given {
  readonly path: string;
  readonly abortSignal?: AbortSignal;
}

const DESCRIPTION = [
  `Files of this session. Relative paths are below ${WORKING_FOLDER}; absolute paths lie in ${WORKING_FOLDER} or /artifacts.`,
  "No commands can be run.",
].join(" ");

export function sandboxFiles(session: HarnessSession<any>): any {
  const files = filesOf(session);
  const access = new Access(files);

  const read = async (given: Given): Promise<Uint8Array | undefined> =>
    (await missing(files.read(pathOf(given), signalOf(given))))?.content;
  const write = async (
    given: Given,
    contentOf = (content: unknown, _encoding: unknown): FileContent => content as FileContent,
  ): Promise<void> => {
    const path = pathOf(given);
    const content = check.readOptions(given, (each) => contentOf(each["content"], each["encoding"]));
    await files.write(path, content, signalOf(given));
  };

  return {
    description: DESCRIPTION,

    readFile: async (given: Given) => (await missing(files.readStream(pathOf(given), signalOf(given)))) ?? null,
    readBinaryFile: async (given: Given) => (await read(given)) ?? null,
    readTextFile: async (given: Given & { encoding?: string; startLine?: number; endLine?: number }) => {
      const content = await read(given);
      return content === undefined ? null : linesOf(decoded(content, given.encoding), given.startLine, given.endLine);
    },

    writeFile: async (given: Given & { content: ReadableStream<Uint8Array> }) => write(given),
    writeBinaryFile: async (given: Given & { content: Uint8Array }) => write(given),
    writeTextFile: async (given: Given & { content: string; encoding?: string }) => write(given, encoded),

    stat: async (given: Given) => {
      const found = await missing(access.version(pathOf(given), true, signalOf(given).signal));
      if (found === undefined) return null;
      return { type: found.kind === "symlink" ? "other" : found.kind, size: found.bytes ?? 0 };
    },
    listDirectory: async (given: Given) => {
      try {
        const entries = await files.list(pathOf(given), signalOf(given));
        return entries.map(({ path, kind }) => ({ name: path.slice(path.lastIndexOf("/") + 1), type: kind }));
      } catch (error) {
        if (error instanceof HarnessFileError && error.code === "FS_NOT_FOUND") return null;
        throw error;
      }
    },
    deleteFile: async (given: Given) => {
      const path = pathOf(given);
      try {
        await files.remove(path, signalOf(given));
        return true;
      } catch (error) {
        if (error instanceof HarnessFileError && /^FS_NOT_(FOUND|DIRECTORY)$/.test(error.code)) return false;
        throw error;
      }
    },

    run: () => noCommands(),
    spawn: () => noCommands(),
  };
}

function pathOf(given: unknown): string {
  return check.readOptions(given, ({ path }) => sessionPath(path));
}

function signalOf(given: Given): { signal?: AbortSignal } {
  const signal = check.readOptions({ signal: given.abortSignal }, check.signal);
  return signal === undefined ? {} : { signal };
}

function noCommands(): Promise<never> {
  const message = "This sandbox holds files only; no command can be run in it. Run commands in a sandbox of your own.";
  return Promise.reject(new HarnessFileError("FS_INVALID_OPTION", message));
}
