// Temporary files and folders of one adapter, and their end.
import { randomUUID } from "node:crypto";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";
import type { Access } from "../file-system/access.js";
import { WORKING_FOLDER } from "../file-system/session-path.js";

export const TEMPORARY = `${WORKING_FOLDER}/tmp`;

export class Temporary {
  readonly #access: Access;
  readonly #made = new Set<string>();

  constructor(access: Access) {
    this.#access = access;
  }

  async folder(prefix: unknown = "tmp-"): Promise<string> {
    const name = affix("prefix", prefix) + randomUUID();
    return this.#note(await this.#access.makeFolder(`${TEMPORARY}/${name}`));
  }

  async file(options: check.Options, signal: { signal?: AbortSignal }): Promise<string> {
    const { prefix = "", suffix = "" } = options;
    const name = affix("prefix", prefix) + randomUUID() + affix("suffix", suffix);
    return this.#note((await this.#access.files.write(`${TEMPORARY}/${name}`, "", signal)).path);
  }

  /** Never rejects. What is made meanwhile stays; what could not be removed is tried again the next time. */
  async remove(): Promise<void> {
    for (const path of new Set(this.#made)) {
      try {
        await this.#access.files.remove(path, { recursive: true, force: true });
        this.#made.delete(path);
      } catch {
        // There is nobody to tell.
      }
    }
  }

  #note(path: string): string {
    this.#made.add(path);
    return path;
  }
}

/** One end of a name. What else a name may not hold is told by the grammar of paths. */
function affix(option: string, value: unknown): string {
  if (typeof value === "string" && !value.includes("/")) return value;
  const text = `${option} must be the end of a name, so a string without "/"`;
  throw new HarnessFileError("FS_INVALID_OPTION", text, { details: { option } });
}
