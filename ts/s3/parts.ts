// A large file, in parts that are read from the disk as they go out. The object appears when the last step completes.
import { ignore } from "../cancellation.js";
import type { OutgoingChange } from "../persistent/store.js";
import type { Condition, Target } from "./send.js";
import type { Operations } from "./sdk.js";

/** Of a part, and of the largest file that goes out whole. Larger ones would hold the event loop while they are signed. */
export const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const MAX_ABORT_MS = 10_000;

type Input<Name extends keyof Operations> = Omit<Operations[Name][0], "Bucket">;
type Sent = NonNullable<NonNullable<Operations["CompleteMultipartUpload"][0]["MultipartUpload"]>["Parts"]>[number];
interface Upload {
  readonly Key: string;
  readonly UploadId: string | undefined;
}

export async function sendParts(
  target: Target,
  change: OutgoingChange,
  about: Partial<Input<"CreateMultipartUpload">>,
  condition: Condition,
): Promise<{ ETag?: string | undefined }> {
  const { bucket, key: Key, requests, signal } = target;
  const checksums: Partial<Input<"CreateMultipartUpload">> = (await bucket.sendsChecksums())
    ? { ChecksumAlgorithm: "CRC32" }
    : {};
  const { UploadId } = await requests.during(1, () =>
    bucket.ask("CreateMultipartUpload", { Key, ...about, ...checksums }, signal),
  );
  const upload = { Key, UploadId };
  try {
    const Parts = await new Parting(target, upload, checksums).run(change);
    const input: Input<"CompleteMultipartUpload"> = { ...upload, MultipartUpload: { Parts }, ...condition };
    return await requests.during(1, () => bucket.ask("CompleteMultipartUpload", input, signal));
  } catch (error) {
    // Parts of an upload that is left open are paid for. Not by the signal, which may be why it failed; nor for ever, since the dir is
    // held meanwhile.
    const abort = (): Promise<unknown> => bucket.ask("AbortMultipartUpload", upload, AbortSignal.timeout(MAX_ABORT_MS));
    await requests.during(1, abort).catch(ignore);
    throw error;
  }
}

class Parting {
  readonly #target: Target;
  readonly #upload: Upload;
  readonly #checksums: Partial<Input<"UploadPart">>;
  readonly #sent: Sent[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(target: Target, upload: Upload, checksums: Partial<Input<"UploadPart">>) {
    this.#target = target;
    this.#upload = upload;
    this.#checksums = checksums;
  }

  /** Rejects when nothing is under way any more. */
  async run(change: OutgoingChange): Promise<Sent[]> {
    const { bytes = 0 } = change;
    const size = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS));
    const content = new Chunks(change.open());
    try {
      for (let at = 0, number = 1; at < bytes && this.#failure === undefined; at += size, number++) {
        const length = Math.min(size, bytes - at);
        const leave = await this.#target.memory.enter(length);
        const part = await content.take(length).catch((error: unknown) => {
          leave();
          throw error;
        });
        this.#begin(number, part, leave);
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    await Promise.all(this.#underWay);
    await content.end();
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#sent;
  }

  #begin(number: number, part: Uint8Array, leave: () => void): void {
    const sending = this.#send(number, part)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        leave();
        this.#underWay.delete(sending);
      });
    this.#underWay.add(sending);
  }

  async #send(PartNumber: number, Body: Uint8Array): Promise<void> {
    const { bucket, requests, signal } = this.#target;
    const input = { ...this.#upload, ...this.#checksums, PartNumber, Body, ContentLength: Body.byteLength };
    const { ETag, ChecksumCRC32 } = await requests.during(1, () => bucket.ask("UploadPart", input, signal));
    this.#sent[PartNumber - 1] = { PartNumber, ETag, ...(ChecksumCRC32 !== undefined && { ChecksumCRC32 }) };
  }
}

/** A stream, by the length. */
class Chunks {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async take(length: number): Promise<Uint8Array> {
    const taken = new Uint8Array(length);
    for (let filled = 0; filled < length;) {
      if (this.#rest.byteLength === 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error("The content ended early");
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, length - filled);
      taken.set(piece, filled);
      filled += piece.byteLength;
      this.#rest = this.#rest.subarray(piece.byteLength);
    }
    return taken;
  }

  async end(): Promise<void> {
    await this.#reader.cancel().catch(ignore);
  }
}
