// Images and PDFs: what `read` gives of them, and the file parts that the AI SDK 5, 6 and 7 make of a tool's result.
import type { FileAttachment } from "../../tools.js";
import { HarnessFileError } from "../errors.js";
import { withText } from "../file-system/codes.js";
import type { Call } from "./tool.js";

const TYPE = "harness.file_attachment";
/** More than any provider takes of an image. */
export const MAX_BYTES = 8 * 1024 * 1024;

/** Version 7 hands a tool `context`, those before `experimental_context`; both even when there is none. */
let newest = false;

/** What the versions make of a file differs; `toModelOutput` is not told which one it is, but `execute` shows it. */
export function noticed<R>(execute: (input: unknown, options: unknown) => R): (input: unknown, options: unknown) => R {
  return (input, options) => {
    if (typeof options === "object" && options !== null) {
      if ("experimental_context" in options) newest = false;
      else if ("context" in options) newest = true;
    }
    return execute(input, options);
  };
}

export async function attachment(path: string, mediaType: string, call: Call): Promise<FileAttachment> {
  const { access, signal } = call;
  const read = access.files.read(path, { maxBytes: MAX_BYTES, ...(signal !== undefined && { signal }) });
  const { content } = await read.catch((error: unknown) => {
    if (!(error instanceof HarnessFileError) || error.code !== "FS_TOO_LARGE") throw error;
    throw withText(error, `${path} (${mediaType}) is too large to be shown: at most ${MAX_BYTES} bytes are.`);
  });
  const data = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64");
  return { type: TYPE, path, mediaType, bytes: content.byteLength, data };
}

/** AI SDK 5 gives the output itself, 6 and later `{ toolCallId, input, output }`. */
export function toModelOutput(given: unknown): unknown {
  if (isAttachment(given)) return parts(given, mediaPart(given));
  const output: unknown =
    typeof given === "object" && given !== null && "toolCallId" in given ? Reflect.get(given, "output") : given;
  if (isAttachment(output)) return parts(output, newest ? filePart(output) : dataPart(output));
  return typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output };
}

function isAttachment(value: unknown): value is FileAttachment {
  return typeof value === "object" && value !== null && (value as Partial<FileAttachment>).type === TYPE;
}

function parts({ path, mediaType, bytes }: FileAttachment, part: object): object {
  return { type: "content", value: [{ type: "text", text: `${path} (${mediaType}, ${bytes} bytes)` }, part] };
}

function mediaPart({ mediaType, data: base64 }: FileAttachment): object {
  return { type: "media", data: base64, mediaType };
}

function dataPart({ mediaType, data: base64 }: FileAttachment): object {
  return { type: mediaType.startsWith("image/") ? "image-data" : "file-data", data: base64, mediaType };
}

function filePart({ mediaType, data: base64 }: FileAttachment): object {
  return { type: "file", data: { type: "data", data: base64 }, mediaType };
}
