// A reference to a file that is there already: what stands for a `FileData` that is too large.
import { isUtf8 } from "node:buffer";
import type { FileData, ToolResultFile } from "../../index.js";
import { cutText } from "./cut-text.js";

const MAX_TOOL_NAME_BYTES = 128;
const MAX_CALL_ID_BYTES = 128;
/** So much of a content that was cut through a character may be left out of the preview. */
const MAX_CHARACTER_BYTES = 4;

export interface Limits {
  readonly maxInlineBytes: number;
  readonly previewBytes: number;
}

/** Text of at most the limit is itself, anything else a reference; the content where even that is over the limit. */
export function fileForm(
  data: FileData,
  call: { toolName: string; toolCallId?: string },
  limits: Limits,
): string | ToolResultFile | Uint8Array {
  const isText = isUtf8(data.content);
  if (isText && data.content.byteLength <= limits.maxInlineBytes) return data.text();
  const id = call.toolCallId;
  const reference: ToolResultFile = {
    type: "harness.tool_result_file",
    toolName: cutText(call.toolName, MAX_TOOL_NAME_BYTES),
    ...(id !== undefined && id !== "" && fits(id) && { toolCallId: id }),
    path: data.path,
    bytes: data.bytes,
    sha256: data.sha256,
    mediaType: cutText(data.mediaType ?? (isText ? "text/plain" : "application/octet-stream"), MAX_TOOL_NAME_BYTES),
    truncated: true,
    summary: { format: isText ? format(data.mediaType) : "binary" },
    preview: "",
    message: `The content of ${data.path} (${data.bytes} bytes) is too large to be shown; read parts of that file.`,
  };
  const room = limits.maxInlineBytes - jsonBytes(reference);
  if (room < 0) return isText ? data.text() : data.content;
  if (isText) reference.preview = preview(data.content, Math.min(limits.previewBytes, room), room);
  return reference;
}

function fits(id: string): boolean {
  return id.isWellFormed() && Buffer.byteLength(id) <= MAX_CALL_ID_BYTES;
}

function format(mediaType: string | undefined): "text" | "json" | "ndjson" {
  if (mediaType === undefined || !/json/i.test(mediaType)) return "text";
  return /ndjson|jsonl|json-?lines/i.test(mediaType) ? "ndjson" : "json";
}

/** Whole characters, of which at most `room` bytes of JSON. */
function preview(content: Uint8Array, bytes: number, room: number): string {
  const head = Buffer.from(
    content.buffer,
    content.byteOffset,
    Math.min(content.byteLength, bytes + MAX_CHARACTER_BYTES),
  );
  const text = cutText(head.toString().replace(/\ufffd+$/, ""), bytes);
  let end = text.length;
  while (jsonBytes(text.slice(0, end)) - 2 > room) end = Math.floor(end * 0.75);
  return cutText(text.slice(0, end), bytes);
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
