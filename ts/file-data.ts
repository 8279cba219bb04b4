// What `read` gives: data in own fields, methods on the prototype, so that structuredClone leaves the data.
import { isUtf8 } from "node:buffer";
import type { FileData as Contract } from "../index.js";
import { HarnessFileError } from "./errors.js";
import type { NativeFileData } from "./native.js";

export class FileData implements Contract {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  declare readonly mediaType?: string;
  readonly content: Uint8Array;

  constructor({ path, bytes, sha256, mediaType, content }: NativeFileData) {
    this.path = path;
    this.bytes = bytes;
    this.sha256 = sha256;
    if (mediaType !== undefined) this.mediaType = mediaType;
    this.content = content;
  }

  text(): string {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(this.content);
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }

  /** The decoder fails for either reason, and its errors do not say which on every version of Node. */
  #unreadable(cause: unknown): HarnessFileError {
    const fields = { path: this.path, cause };
    return isUtf8(this.content)
      ? new HarnessFileError(
          "FS_TOO_LARGE",
          `Longer than a string can be; use readStream or a range: ${this.path}`,
          fields,
        )
      : new HarnessFileError("FS_NOT_TEXT", `Not UTF-8 text: ${this.path}`, fields);
  }

  json<T = unknown>(): T {
    const text = this.text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new HarnessFileError("FS_INVALID_CONTENT", `Not JSON: ${this.path}`, { path: this.path, cause });
    }
  }
}
