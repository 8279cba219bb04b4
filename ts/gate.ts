// Counts the calls that run on a handle: closing waits for them, and what comes after is FS_CLOSED.
import { HarnessFileError } from "./errors.js";

export class Gate {
  /** What to say to those who come too late. */
  readonly #closedText: string;
  #running = 0;
  #closed = false;
  #whenIdle: Array<() => void> = [];
  readonly #releases = new Set<() => void>();

  constructor(closedText: string) {
    this.#closedText = closedText;
  }

  get closed(): boolean {
    return this.#closed;
  }

  check(): void {
    if (this.#closed) throw new HarnessFileError("FS_CLOSED", this.#closedText);
  }

  enter(): void {
    this.check();
    this.#running++;
  }

  leave(): void {
    this.#running--;
    if (this.#running > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** `release` is called when the gate has closed, unless what this gives is called first. */
  onClosed(release: () => void): () => void {
    this.#releases.add(release);
    return () => this.#releases.delete(release);
  }

  /** Refuses newcomers at once; resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    for (const release of this.#releases) release();
    this.#releases.clear();
  }
}
