// The changes of a commit as `store` gets them.
import type { FileChangeSet as Contract } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { forEach } from "./parallel.js";
import type { Outgoing, OutgoingChange } from "./store.js";

/** Contents up to this are in memory when a callback is called. */
export const MAX_HELD_BYTES = 64 * 1024 * 1024;

const READS_AT_ONCE = 8;
const NOTHING = new Uint8Array();

export function tooLarge(what: string): never {
  throw new HarnessFileError("FS_TOO_LARGE", `${what} larger than 64 MiB: use open(path)`);
}

type Contents = Record<string, Uint8Array>;

export class FileChangeSet implements Contract {
  readonly entries: Contract["entries"];
  readonly deleted: string[];
  readonly #changes: ReadonlyMap<string, OutgoingChange>;
  readonly #contents: { readonly created: Contents; readonly updated: Contents } | undefined;

  private constructor({ entries }: Outgoing, contents: { created: Contents; updated: Contents } | undefined) {
    this.entries = entries.map(({ path, change, bytes, sha256, base }) => ({
      path,
      change,
      ...(bytes !== undefined && { bytes }),
      ...(sha256 !== undefined && { sha256 }),
      ...(base !== undefined && { base: { ...base } }),
    }));
    this.deleted = entries.filter(({ change }) => change === "deleted").map(({ path }) => path);
    this.#changes = new Map(entries.map((change) => [change.path, change]));
    this.#contents = contents;
  }

  static async of(outgoing: Outgoing): Promise<FileChangeSet> {
    if (outgoing.bytes > MAX_HELD_BYTES) return new FileChangeSet(outgoing, undefined);
    const contents = { created: record(), updated: record() };
    for (const { change, path } of outgoing.entries) {
      if (change !== "deleted") contents[change][path] = NOTHING; // in this order, whichever is read first
    }
    await forEach(outgoing.entries, READS_AT_ONCE, async (entry) => {
      if (entry.change !== "deleted") contents[entry.change][entry.path] = await entry.read();
    });
    return new FileChangeSet(outgoing, contents);
  }

  get created(): Contents {
    return this.#contents?.created ?? tooLarge("The changes are together");
  }

  get updated(): Contents {
    return this.#contents?.updated ?? tooLarge("The changes are together");
  }

  open(path: string): ReadableStream<Uint8Array> {
    const change = this.#changes.get(path);
    if (change !== undefined && change.change !== "deleted") return change.open();
    throw new HarnessFileError("FS_NOT_FOUND", `No such content among the changes (ENOENT): ${String(path)}`);
  }
}

/** Without a prototype: `constructor` and `__proto__` are only names. */
function record(): Contents {
  return Object.create(null) as Contents;
}
