// The FileWriter: checks what it was given, hands it to the addon, brings back what it tells.
import type { FileRef, FileWriter } from "../index.js";
import { settled } from "./cancellation.js";
import { type Content, openContent, openText } from "./content.js";
import { HarnessFileError, toFileError, unwrap } from "./errors.js";
import { fileEntry, fileRef } from "./facts.js";
import { FileData } from "./file-data.js";
import * as given from "./file-options.js";
import { drain } from "./listing.js";
import type { Dir } from "./persistent/dir.js";
import { readStream } from "./read-stream.js";
import type { SessionCore } from "./session-core.js";
import { JsonSource } from "./source/json.js";
import { upload } from "./upload.js";

/** Where a writer that we handed out writes, and as whom. */
export interface Behind {
  readonly core: SessionCore;
  readonly writer: given.Writer;
}

const handedOut = new WeakMap<FileWriter, Behind>();

/** undefined for a FileWriter that is not ours. */
export function behind(files: FileWriter): Behind | undefined {
  return handedOut.get(files);
}

/** Closures, so that a method works by itself as well: `const { write } = session.files`. */
export function fileWriter(core: SessionCore, writer: given.Writer): FileWriter {
  const files: FileWriter = {
    write: (path, content, options) => put("write", path, options, {}, () => openContent(content)),
    writeText: (path, text, options) =>
      put("writeText", path, options, { fallbackMediaType: "text/plain" }, () => openText(text)),
    writeJSON: (path, value, options) =>
      put("writeJSON", path, options, { mediaType: "application/json" }, () => ({ source: new JsonSource(value) })),

    read: (path, options) =>
      core.perform({ name: "read", path }, async () => {
        const name = given.checkPath(path);
        const { native, signal } = given.readOptions(options);
        return core.cancellable(signal, async (cancellation) => {
          const loading = core.persistent.access(name, false, cancellation);
          if (loading !== undefined) await loading;
          const data = settled(await core.native.read(name, native, cancellation?.native), cancellation);
          core.noteRead(data.path);
          return new FileData(data);
        });
      }),

    readStream: (path, options) =>
      core.perform({ name: "readStream", path }, async () => {
        const name = given.checkPath(path);
        const { start, end, signal } = given.streamOptions(options);
        const cancellation = core.cancellation(signal);
        try {
          const loading = core.persistent.access(name, false, cancellation);
          if (loading !== undefined) await loading;
          const native = unwrap(await core.native.openRead(name, start, end));
          core.noteRead(native.path);
          return readStream(native, core.gate, cancellation);
        } catch (error) {
          cancellation?.dispose();
          throw error;
        }
      }),

    stat: (path) =>
      core.perform({ name: "stat", path }, async () => {
        const name = given.checkPath(path);
        return core.cancellable(undefined, async (cancellation) => {
          const loading = core.persistent.access(name, false, cancellation);
          if (loading !== undefined) await loading;
          return fileEntry(unwrap(await core.native.stat(name)));
        });
      }),

    list: (path, options) =>
      core.perform({ name: "list", path }, async () => {
        const name = given.checkPath(path);
        const { native, signal } = given.listOptions(options);
        return core.cancellable(signal, async (cancellation) => {
          const loading = core.persistent.access(name, native.recursive, cancellation);
          if (loading !== undefined) await loading;
          const listing = settled(await core.native.list(name, native, cancellation?.native), cancellation);
          return drain(listing, fileEntry, cancellation);
        });
      }),

    remove: (path, options) =>
      core.perform({ name: "remove", path, source: () => writer.source }, async () => {
        const name = given.checkPath(path);
        const { native, signal } = given.removeOptions(options, writer);
        const dir = core.persistent.writable(name, "remove");
        await core.cancellable(signal, async (cancellation) => {
          const loading = dir && core.persistent.access(name, false, cancellation);
          if (loading !== undefined) await loading;
          settled(await core.native.remove(name, native, cancellation?.native), cancellation);
        });
        if (dir !== undefined) await landed(dir, name, signal);
      }),
  };
  handedOut.set(files, { core, writer });
  return files;

  /** What the host writes goes to the store at once; what a turn writes, when that finishes. */
  async function landed(dir: Dir, path: string, signal: AbortSignal | undefined): Promise<void> {
    if (writer.turnId !== undefined) return;
    await core.cancellable(signal, (cancellation) => core.persistent.commitPath(dir, path, cancellation));
  }

  async function put(
    name: string,
    path: unknown,
    options: unknown,
    types: given.MediaTypes,
    open: () => Content,
  ): Promise<FileRef> {
    // Opened before anything can refuse the call: its source must then be told that nobody will read it.
    const content = attempt(open);
    let untouched = content instanceof HarnessFileError || "bytes" in content ? undefined : content.source;
    try {
      return await core.perform({ name, path, source: () => given.sourceOf(options, writer) }, async () => {
        const target = given.checkPath(path);
        const mediaTypes = "mediaType" in content ? { mediaType: content.mediaType } : types;
        const { native, signal } = given.writeOptions(options, writer, mediaTypes);
        const dir = core.persistent.writable(target, name);
        const ref = await core.cancellable(signal, async (cancellation) => {
          if (content instanceof HarnessFileError) throw content;
          const loading = dir && core.persistent.access(target, false, cancellation);
          if ("bytes" in content) {
            // While the dir loads the caller may change its buffer.
            const bytes = loading === undefined ? content.bytes : new Uint8Array(content.bytes);
            if (loading !== undefined) await loading;
            const written = await core.native.write(target, bytes, native, cancellation?.native);
            return fileRef(settled(written, cancellation));
          }
          if (loading !== undefined) await loading;
          const write = unwrap(core.native.beginWrite(target, native, cancellation?.native));
          untouched = undefined;
          return fileRef(await upload(content.source, write, cancellation));
        });
        if (dir !== undefined) await landed(dir, ref.path, signal);
        return ref;
      });
    } catch (error) {
      await untouched?.cancel(toFileError(error));
      throw error;
    }
  }
}

function attempt(open: () => Content): Content | HarnessFileError {
  try {
    return open();
  } catch (error) {
    return toFileError(error);
  }
}
