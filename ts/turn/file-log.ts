// Which files a turn read, wrote and removed. What changed is taken from its events: they tell each file by itself, also of a
// folder that was removed and of what another program did.
import type { FinishedTurn, HarnessTraceEvent } from "../../index.js";

export class FileLog {
  readonly #turnId: string;
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();
  readonly #edited = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  noteRead(path: string): void {
    this.#read.add(path);
  }

  /** Its event tells that it was written, too. */
  noteEdited(path: string): void {
    this.#edited.add(path);
  }

  noteEvent({ type, turnId, metadata }: HarnessTraceEvent): void {
    const path = metadata["path"];
    if (turnId !== this.#turnId || typeof path !== "string") return;
    if (type === "harness.file.created" || type === "harness.file.updated") this.#written.add(path);
    else if (type === "harness.file.deleted") this.#removed.add(path);
  }

  files(): FinishedTurn["files"] {
    return {
      read: sorted(this.#read),
      written: sorted(this.#written),
      edited: sorted(this.#edited),
      removed: sorted(this.#removed),
    };
  }
}

/** By bytes, as listings are. */
function sorted(paths: ReadonlySet<string>): string[] {
  return [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
