// The staged changes of a commit, as stores take them.
import { unwrap } from "../errors.js";
import type { Gate } from "../gate.js";
import type { Failure, NativeChange, NativeCommit, NativeRead } from "../native.js";
import { mapped } from "../pace.js";
import { readStream } from "../read-stream.js";
import type { Outgoing, OutgoingChange } from "./store.js";

/** The gate closes when the commit ends. */
export async function outgoing(entries: readonly NativeChange[], commit: NativeCommit, gate: Gate): Promise<Outgoing> {
  return { entries: await mapped(entries, (entry) => new Change(entry, commit, gate)), bytes: commit.bytes };
}

class Change implements OutgoingChange {
  readonly path: string;
  readonly change: NativeChange["change"];
  declare readonly bytes?: number;
  declare readonly sha256?: string;
  declare readonly mediaType?: string;
  declare readonly base?: NonNullable<OutgoingChange["base"]>;
  readonly #commit: NativeCommit;
  readonly #gate: Gate;

  constructor(native: NativeChange, commit: NativeCommit, gate: Gate) {
    const { path, change, baseBytes: bytes, baseSha256: sha256, baseVersion: version } = native;
    this.path = path;
    this.change = change;
    for (const name of ["bytes", "sha256", "mediaType"] as const) {
      if (native[name] !== undefined) Object.assign(this, { [name]: native[name] });
    }
    if (bytes !== undefined && sha256 !== undefined) {
      this.base = { bytes, sha256, ...(version !== undefined && { version }) };
    }
    this.#commit = commit;
    this.#gate = gate;
  }

  async read(): Promise<Uint8Array> {
    this.#gate.enter();
    try {
      return unwrap(await this.#commit.read(this.path));
    } finally {
      this.#gate.leave();
    }
  }

  open(): ReadableStream<Uint8Array> {
    this.#gate.check();
    return readStream(new LazyRead(this.path, this.bytes ?? 0, () => this.#commit.open(this.path)), this.#gate);
  }
}

/** Opened by the first pull: a callback gets its stream at once, and may never read it. */
class LazyRead implements NativeRead {
  readonly path: string;
  readonly bytes: number;
  readonly #open: () => Promise<NativeRead | Failure>;
  #read: NativeRead | undefined;
  #closed = false;

  constructor(path: string, bytes: number, open: () => Promise<NativeRead | Failure>) {
    this.path = path;
    this.bytes = bytes;
    this.#open = open;
  }

  async next(maxBytes: number): ReturnType<NativeRead["next"]> {
    if (this.#read === undefined) {
      const opened = await this.#open();
      if ("failure" in opened) return opened;
      this.#read = opened;
      if (this.#closed) opened.close();
    }
    return this.#read.next(maxBytes);
  }

  close(): void {
    this.#closed = true;
    this.#read?.close();
  }
}
