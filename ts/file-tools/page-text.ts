// Text of whole lines that never outgrows its bound.
import { cutText } from "../tools/cut-text.js";

export class PageText {
  readonly #lines: string[] = [];
  #room: number;

  constructor(bytes: number) {
    this.#room = bytes;
  }

  /** False when there is no room for it. The first line always has some: it is cut. */
  add(line: string): boolean {
    const size = Buffer.byteLength(line) + 1;
    if (size > this.#room) {
      if (this.#lines.length > 0 || this.#room < 2) return false;
      this.#lines.push(cutText(line, this.#room - 1));
      this.#room = 0;
      return true;
    }
    this.#room -= size;
    this.#lines.push(line);
    return true;
  }

  get lines(): number {
    return this.#lines.length;
  }

  /** With a status at the end, after an empty line. */
  ended(status: string): string {
    return this.#lines.length === 0 ? status : `${this.#lines.join("\n")}\n\n${status}`;
  }
}
