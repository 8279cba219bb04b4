// The files of a message as the hook gets them.
import type { InputFile } from "../../index.js";
import type { Cancellation } from "../cancellation.js";
import { HarnessFileError } from "../errors.js";
import { Pace } from "../pace.js";
import { Base64Bytes } from "./base64-bytes.js";
import { type FetchFile, fetchFile } from "./fetch-file.js";
import type { FilePart, Inline } from "./file-part.js";
import { imageType } from "./image-type.js";
import { best, extensionOf } from "./media-type.js";
import { SafeNames } from "./safe-name.js";
import type { Unread } from "./unread.js";

export class InputFiles {
  readonly files: InputFile[] = [];
  readonly #names = new SafeNames();
  readonly #fetched: Unread[] = [];
  readonly #pace = new Pace();

  async add(part: FilePart, fetchIt: FetchFile | undefined, cancellation: Cancellation | undefined): Promise<void> {
    if (!(part.file instanceof URL)) return this.#inline(part, part.file);
    if (fetchIt === undefined) throw new Error("a remote file needs fetchFile");
    const { unread, name, mediaType } = await fetchFile(fetchIt, part.file, part.part, cancellation);
    this.#fetched.push(unread);
    this.#add(name ?? part.name, best(part.mediaType, mediaType), undefined, unread.content);
  }

  async #inline({ name, mediaType }: FilePart, { content, bytes }: Inline): Promise<void> {
    const size = content instanceof Base64Bytes ? await this.#measure(content) : bytes;
    this.#add(name, mediaType === "image/*" ? (imageType(content) ?? mediaType) : mediaType, size, content);
  }

  /** Not at once: the text may be long. */
  async #measure(content: Base64Bytes): Promise<number | undefined> {
    const measuring = content.measure();
    for (;;) {
      const { done, value } = measuring.next();
      if (done === true) return value;
      if (this.#pace.dueNow()) await this.#pace.turn();
    }
  }

  #add(
    given: string | undefined,
    mediaType: string | undefined,
    bytes: number | undefined,
    content: InputFile["content"],
  ): void {
    const name = given ?? nameFor(mediaType);
    this.files.push({
      name,
      safeName: this.#names.take(name),
      ...(mediaType !== undefined && { mediaType }),
      ...(bytes !== undefined && { bytes }),
      content,
    });
  }

  /** Tells the sources of what was fetched and not read. */
  async cancelUnread(failure: HarnessFileError | undefined): Promise<void> {
    const reason = failure ?? new HarnessFileError("FS_CLOSED", "The stageMessage hook did not read this file");
    for (const unread of this.#fetched) await unread.cancel(reason);
  }
}

function nameFor(mediaType: string | undefined): string {
  const [kind = ""] = mediaType?.split("/") ?? [];
  return (["image", "audio", "video"].includes(kind) ? kind : "file") + extensionOf(mediaType);
}
