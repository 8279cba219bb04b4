// The native calls below the tools, each made as the session or the turn that a FileWriter belongs to.
import type { FileWriter } from "../../index.js";
import { type Cancellation, settled } from "../cancellation.js";
import * as check from "../check.js";
import { HarnessFileError, unwrap } from "../errors.js";
import { checkPath, type Writer } from "../file-options.js";
import { behind } from "../file-writer.js";
import type {
  Failure,
  NativeEdit,
  NativeEdited,
  NativePage,
  NativePageOptions,
  NativeSession,
  NativeTarget,
  NativeVersioned,
  NativeVersionedWrite,
} from "../native.js";
import type { SessionCore } from "../session-core.js";
import { TextSource } from "../source/memory.js";
import { upload } from "../upload.js";

/** Characters of a text that is written in one go. */
const AT_ONCE = 256 * 1024;

export type Guard = { readonly ifVersion?: string; readonly ifNoneMatch?: true };

type Call<T> = (native: NativeSession, path: string, cancellation: Cancellation | undefined) => Promise<T | Failure>;

/** Of what should be a session or a context. */
export function filesOf(holder: unknown): FileWriter {
  const given = typeof holder === "object" && holder !== null ? holder : {};
  return check.readOptions(given, ({ files }) => files as FileWriter, "session");
}

export class Access {
  readonly files: FileWriter;
  readonly core: SessionCore;
  readonly writer: Writer;

  constructor(files: FileWriter) {
    this.files = files;
    const found = typeof files === "object" && files !== null ? behind(files) : undefined;
    if (found === undefined) throw new HarnessFileError("FS_INVALID_OPTION", "This needs a session of localHost");
    this.core = found.core;
    this.writer = found.writer;
  }

  /** `name` is what a refusal is told as. */
  call<T>(name: string, path: unknown, signal: AbortSignal | undefined, work: Call<T>): Promise<T> {
    const { core, writer } = this;
    return core.perform({ name, path, source: () => writer.source }, async () => {
      const checked = checkPath(path);
      return core.cancellable(signal, async (cancellation) => {
        await core.persistent.access(checked, true, cancellation);
        return settled(await work(core.native, checked, cancellation), cancellation);
      });
    });
  }

  /** The same for what changes a file: what the host writes in a Persistent Dir goes to its store at once. */
  async #change<T extends { readonly written: { readonly path: string } }>(
    name: string,
    path: string,
    signal: AbortSignal | undefined,
    work: Call<T>,
  ): Promise<T> {
    const { core, writer } = this;
    return core.perform({ name, path, source: () => writer.source }, async () => {
      const checked = checkPath(path);
      const dir = core.persistent.writable(checked, name);
      return core.cancellable(signal, async (cancellation) => {
        if (dir !== undefined) await core.persistent.access(checked, false, cancellation);
        const changed = settled(await work(core.native, checked, cancellation), cancellation);
        if (dir !== undefined && writer.turnId === undefined)
          await core.persistent.commitPath(dir, changed.written.path, cancellation);
        return changed;
      });
    });
  }

  /** The same for what shows content: the path counts as read. */
  async reading<T extends { readonly path: string }>(
    name: string,
    path: string,
    signal: AbortSignal | undefined,
    work: Call<T>,
  ): Promise<T> {
    const shown = await this.call(name, path, signal, work);
    this.core.noteRead(shown.path);
    return shown;
  }

  target(name: string, path: unknown): Promise<NativeTarget> {
    return this.call(name, path, undefined, (native, checked) => native.target(checked));
  }

  /** The whole path that a text names, as everywhere; nothing has to be there, and nothing is loaded for it. */
  addressed(name: string, path: string): Promise<string> {
    const { core, writer } = this;
    return core.perform({ name, path, source: () => writer.source }, async () => {
      return unwrap(await core.native.target(checkPath(path))).path;
    });
  }

  version(path: string, follow: boolean, signal?: AbortSignal): Promise<NativeVersioned> {
    return this.call("stat", path, signal, (native, checked) => native.version(checked, follow));
  }

  write(
    path: string,
    text: string,
    guard: Guard,
    more: { readonly beforeBytes?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<NativeVersionedWrite> {
    const options = {
      ...this.writer,
      ...guard,
      fallbackMediaType: "text/plain",
      ...(more.beforeBytes !== undefined && { beforeBytes: more.beforeBytes }),
    };
    return this.#change("write", path, more.signal, async (native, checked, cancellation) => {
      if (text.length <= AT_ONCE) {
        return native.writeVersioned(checked, Buffer.from(text), options, cancellation?.native);
      }
      // In batches, so that the loop keeps turning however long it is.
      const write = unwrap(native.beginWriteVersioned(checked, options, cancellation?.native));
      return upload(new TextSource(text), write, cancellation);
    });
  }

  async edit(
    path: string,
    edits: NativeEdit[],
    ifVersion: string | undefined,
    diffBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<NativeEdited> {
    const options = { ...this.writer, diffBytes, ...(ifVersion !== undefined && { ifVersion }) };
    const edited = await this.#change("edit", path, signal, (native, checked, cancellation) =>
      native.edit(checked, edits, options, cancellation?.native),
    );
    this.core.noteEdited(edited.written.path);
    return edited;
  }

  /** Makes a folder and those above it; one that is there is fine. Gives its path as on the disk. */
  makeFolder(path: string): Promise<string> {
    return this.call("createDir", path, undefined, (native, checked) => native.makeFolder(checked));
  }

  page(name: string, path: string, options: NativePageOptions, signal: AbortSignal | undefined): Promise<NativePage> {
    return this.call(name, path, signal, (native, checked, cancellation) =>
      native.page(checked, options, cancellation?.native),
    );
  }
}
