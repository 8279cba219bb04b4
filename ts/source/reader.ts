// A WHATWG stream: the DOM's, node:stream/web's, or anything with such a reader.
import type { ByteStream } from "../../index.js";
import { ignore } from "../cancellation.js";
import type { HarnessFileError } from "../errors.js";
import { PulledSource } from "./pulled.js";

type Reader = ReturnType<ByteStream["getReader"]>;

export class ReaderSource extends PulledSource {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    super();
    this.#reader = reader;
  }

  protected next(): ReturnType<Reader["read"]> {
    return this.#reader.read();
  }

  protected override ended(): void {
    try {
      this.#reader.releaseLock();
    } catch {
      // A foreign reader that will not let go is its owner's affair.
    }
  }

  /** Not awaited: what the source still does to wind up does not hold the write. */
  protected stop(reason: HarnessFileError): void {
    try {
      this.#reader.cancel(reason).catch(ignore);
    } catch {
      // It is over either way.
    }
    this.ended();
  }
}
