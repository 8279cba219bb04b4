// A load under way: takes what the store gives and brings it into the addon.
import { type Cancellation, settled } from "../cancellation.js";
import { type Content, openContent } from "../content.js";
import { HarnessFileError, describe, toFileError, unwrap } from "../errors.js";
import { Gate } from "../gate.js";
import type { NativeDir, NativeLoad, NativeLoaded } from "../native.js";
import { upload } from "../upload.js";
import type { DirSession } from "./dir.js";
import type { Incoming, Listed, Loading } from "./store.js";

/** Long before a path is this long the grammar refuses it; no need to carry it over. */
const MAX_PATH_LENGTH = 32_768;
/** At once across to the addon. */
const LISTED_AT_ONCE = 1024;
const LISTED: readonly Listed[] = ["same", "wanted", "unnamable"];

export class LoadUnderWay implements Loading {
  readonly cursor: unknown;
  readonly needed: readonly string[];
  readonly #native: NativeDir;
  readonly #session: DirSession;
  readonly #cancellation: Cancellation | undefined;
  readonly #gate = new Gate("The load has ended.");
  #load: NativeLoad | undefined;

  constructor(
    native: NativeDir,
    cursor: unknown,
    needed: readonly string[],
    session: DirSession,
    cancellation: Cancellation | undefined,
  ) {
    this.cursor = cursor;
    this.needed = needed;
    this.#native = native;
    this.#session = session;
    this.#cancellation = cancellation;
  }

  begin(complete: boolean): Incoming {
    this.#gate.check();
    if (this.#load !== undefined) throw new Error("A load begins once");
    const load = (this.#load = this.#native.beginLoad(complete, [...this.needed]));
    return {
      list: (entries) => this.#entered(() => this.#list(load, entries)),
      put: (path, content, version) => this.#put(load, path, content, version),
      gone: (paths) =>
        this.#entered(async () => {
          settled(await load.gone(paths.map(checkPath)), this.#cancellation);
        }),
    };
  }

  /** A callback that was given up may still go on, and must then touch nothing. */
  async #entered<T>(work: () => Promise<T>): Promise<T> {
    this.#cancellation?.check();
    this.#gate.enter();
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  async #list(load: NativeLoad, entries: ReadonlyArray<{ path: string; version?: string }>): Promise<Listed[]> {
    const all: Listed[] = [];
    for (let at = 0; at < entries.length; at += LISTED_AT_ONCE) {
      this.#cancellation?.check();
      const page = entries.slice(at, at + LISTED_AT_ONCE);
      const paths = page.map(({ path }) => checkPath(path));
      const versions = page.map(({ version }) => version ?? null);
      const found = settled(await load.list(paths, versions), this.#cancellation);
      for (const state of found) all.push(LISTED[state] ?? "wanted");
    }
    return all;
  }

  /** A content that is not taken is told so. */
  async #put(load: NativeLoad, path: string, content: unknown, version: string | undefined): Promise<void> {
    const opened = openNamed(path, content);
    let untouched = "source" in opened ? opened.source : undefined;
    try {
      await this.#entered(async () => {
        const name = checkPath(path);
        if ("bytes" in opened) {
          settled(await load.put(name, opened.bytes, version), this.#cancellation);
          return;
        }
        const write = unwrap(load.begin(name, version));
        // Its own, since the end of an upload seals it.
        const cancellation = this.#session.cancellation(this.#cancellation?.signal);
        untouched = undefined;
        try {
          await upload(opened.source, write, cancellation);
        } finally {
          cancellation?.dispose();
        }
      });
    } catch (error) {
      await untouched?.cancel(toFileError(error));
      throw error;
    }
  }

  /** Publishes what came. A store that never began has nothing to say. */
  async finish(cursor: string | null): Promise<NativeLoaded> {
    await this.#gate.close();
    const load = this.#load ?? this.#native.beginLoad(false, [...this.needed]);
    return settled(await load.finish(cursor, this.#cancellation?.native), this.#cancellation);
  }

  /** Waits for calls that are under way: the dir is let go of only when nothing uses it. */
  async abort(): Promise<void> {
    await this.#gate.close();
    await this.#load?.abort();
  }
}

function openNamed(path: string, content: unknown): Content {
  try {
    return openContent(content);
  } catch (error) {
    const { code, message } = toFileError(error);
    throw new HarnessFileError(code, `${message}: ${String(path).slice(0, 256)}`, { cause: error });
  }
}

/** The rest of the grammar is checked natively. */
function checkPath(path: unknown): string {
  if (typeof path === "string" && path.length <= MAX_PATH_LENGTH && path.isWellFormed()) return path;
  const shown = typeof path === "string" ? JSON.stringify(path.slice(0, 256)) : describe(path);
  throw new HarnessFileError("FS_INVALID_PATH", `The store names a file that no path can be: ${shown}`);
}
