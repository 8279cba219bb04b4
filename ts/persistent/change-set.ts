// The changes of a commit as `store` gets them.
import type { FileChangeSet as Contract } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { mapped } from "../pace.js";
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

  private constructor(
    entries: Contract["entries"],
    deleted: string[],
    changes: ReadonlyMap<string, OutgoingChange>,
    contents: { created: Contents; updated: Contents } | undefined,
  ) {
    this.entries = entries;
    this.deleted = deleted;
    this.#changes = changes;
    this.#contents = contents;
  }

  static async of(outgoing: Outgoing): Promise<FileChangeSet> {
    const contents = outgoing.bytes > MAX_HELD_BYTES ? undefined : { created: record(), updated: record() };
    const deleted: string[] = [];
    const changes = new Map<string, OutgoingChange>();
    const entries = await mapped(outgoing.entries, (entry) => {
      changes.set(entry.path, entry);
      if (entry.change === "deleted") deleted.push(entry.path);
      else if (contents !== undefined) contents[entry.change][entry.path] = NOTHING; // in this order, whichever is read first
      return shown(entry);
    });
    if (contents !== undefined) {
      const held = outgoing.entries.filter(({ change }) => change !== "deleted");
      await forEach(held, READS_AT_ONCE, async (entry) => {
        if (entry.change !== "deleted") contents[entry.change][entry.path] = await entry.read();
      });
    }
    return new FileChangeSet(entries, deleted, changes, contents);
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

function shown({ path, change, bytes, sha256, base }: OutgoingChange): Contract["entries"][number] {
  return {
    path,
    change,
    ...(bytes !== undefined && { bytes }),
    ...(sha256 !== undefined && { sha256 }),
    ...(base !== undefined && { base: { ...base } }),
  };
}

/** Without a prototype: `constructor` and `__proto__` are only names. */
function record(): Contents {
  return Object.create(null) as Contents;
}
