// The seam: the files of a session by opaque targets and versions, with DeepSeek's meanings of the codes.
import type { HarnessSession } from "../../index.js";
import type { FileSystem, FsInfo, FsTarget, FsVersion } from "../../tools.js";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import { fileRef } from "../facts.js";
import type { NativeTarget, NativeVersioned } from "../native.js";
import { Access, filesOf } from "./access.js";
import { as, missing } from "./codes.js";
import { editsOf } from "./edits.js";
import { guardOf, textOf, versionOf } from "./given.js";
import { listDir, targetOf } from "./list-dir.js";
import { readText } from "./read-text.js";
import { streamText } from "./stream-text.js";
import { writeGuarded } from "./write-guarded.js";

/** From here on nobody wants to see what was replaced. */
const LARGE_BYTES = 10 * 1024 * 1024;
const MAX_DIFF_BYTES = 256 * 1024;

export function sessionFileSystem(session: HarnessSession<any>): FileSystem {
  const access = new Access(filesOf(session));
  const signalOf = (options: unknown): AbortSignal | undefined => check.readOptions(options, check.signal);

  return {
    resolve: async (path) => {
      if (typeof path === "string" && path.trim() === "")
        throw new HarnessFileError("FS_NOT_FOUND", "The path is blank (ENOENT)");
      return targetOf(await as("FS_NOT_DIRECTORY", "FS_NOT_FOUND", named(access, path)));
    },

    contains: (a, b) => {
      const [outer, inner] = [keyOf(a), keyOf(b)];
      return outer === inner || inner.startsWith(`${outer}/`);
    },

    stat: async (target) => {
      const found = await missing(access.version(pathOf(target), true));
      return found && { ...infoOf(found), type: typeOf(found.kind) };
    },

    lstat: async (path) => {
      const found = await missing(access.version(path, false));
      return found && { ...infoOf(found), type: found.kind };
    },

    readText: async (target, options) => readText(access, pathOf(target), signalOf(options)),

    streamText: (target, options) =>
      streamText(
        access,
        () => pathOf(target),
        () => signalOf(options),
      ),

    readBytes: async (target, options) => {
      const maxBytes = check.readOptions(options, (given) => check.count(given, "maxBytes"));
      if (maxBytes === undefined) throw check.invalidOption("maxBytes", "an integer of 0 or more", maxBytes);
      const signal = signalOf(options);
      const { content } = await access.files.read(pathOf(target), {
        maxBytes,
        ...(signal !== undefined && { signal }),
      });
      return content;
    },

    writeText: async (target, text, options) => {
      const content = textOf(text, "text");
      const guard = check.readOptions(options, ({ expected }) => guardOf(expected));
      const signal = signalOf(options);
      const asked = content.length < LARGE_BYTES && Buffer.byteLength(content) < LARGE_BYTES;
      const more = { signal, beforeBytes: asked ? LARGE_BYTES - 1 : 0 };
      const { operation, version, before, written } = await writeGuarded(access, pathOf(target), content, guard, more);
      return { operation, version: version as FsVersion, before: before ?? null, ref: fileRef(written) };
    },

    editText: async (target, edits, options) => {
      const given = editsOf(edits);
      const ifVersion = check.readOptions(options, ({ expected }) => versionOf(expected));
      const edit = access.edit(pathOf(target), given, ifVersion, MAX_DIFF_BYTES, signalOf(options));
      const { version, diff, written } = await as("FS_NOT_FOUND", "FS_STALE_VERSION", edit);
      return { version: version as FsVersion, diff, ref: fileRef(written) };
    },

    listDir: async (target) => {
      pathOf(target);
      return listDir(access, target);
    },
  };
}

/** What is not there may be made, unless a folder above it is a file. */
async function named(access: Access, path: string): Promise<NativeTarget> {
  const target = await access.target("resolve", path);
  try {
    await access.call("resolve", path, undefined, (native, checked) => native.stat(checked));
  } catch (error) {
    if (error instanceof HarnessFileError && error.code === "FS_NOT_DIRECTORY") throw error;
  }
  return target;
}

function infoOf({ version, bytes }: NativeVersioned): Omit<FsInfo, "type"> {
  return { version: version as FsVersion, ...(bytes !== undefined && { size: bytes }) };
}

function typeOf(kind: NativeVersioned["kind"]): FsInfo["type"] {
  return kind === "symlink" ? "other" : kind;
}

/** Files are used by the path they were named by: a write must see the links in it. */
function pathOf(target: FsTarget): string {
  return fieldOf(target, "displayPath");
}

function keyOf(target: FsTarget): string {
  return fieldOf(target, "targetKey");
}

function fieldOf(target: FsTarget, name: keyof FsTarget): string {
  const given = typeof target === "object" && target !== null ? target : {};
  return check.readOptions(given, ({ [name]: field }) => {
    if (typeof field === "string") return field;
    throw check.invalidOption("target", "an FsTarget, as resolve gives it", target);
  });
}
