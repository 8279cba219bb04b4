// A content that somebody was to read: once it is clear that nobody will, its source is told, unless it knows already.
import type { ByteStream, FileContent } from "../../index.js";
import { openContent } from "../content.js";
import type { HarnessFileError } from "../errors.js";

export class Unread {
  /** To be handed on: the same content, watched where it would not show that it is being read. */
  readonly content: FileContent;
  readonly #original: unknown;
  #taken = false;

  constructor(content: FileContent) {
    this.#original = content;
    this.content = this.#watched(content);
  }

  #watched(content: FileContent): FileContent {
    if (typeof content !== "object" || content === null || content instanceof ReadableStream || "read" in content)
      return content;
    const take = <T>(value: T): T => {
      this.#taken = true;
      return value;
    };
    const { getReader, arrayBuffer } = content as Partial<ByteStream & Blob>;
    if (typeof arrayBuffer === "function") return content;
    if (typeof getReader === "function") return { getReader: () => take((content as ByteStream).getReader()) };
    if (!(Symbol.asyncIterator in content)) return content;
    return { [Symbol.asyncIterator]: () => take(content[Symbol.asyncIterator]()) };
  }

  async cancel(reason: HarnessFileError): Promise<void> {
    if (this.#taken) return;
    this.#taken = true;
    try {
      const opened = openContent(this.#original);
      if ("source" in opened) await opened.source.cancel(reason);
    } catch {
      // It is no content, or it was read or ended: either way there is nobody to tell.
    }
  }
}
