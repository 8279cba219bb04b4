// What the model gets when a large result could not be stored: its beginning, and why it is cut.
import { isUtf8 } from "node:buffer";
import type { HarnessFileError } from "../errors.js";
import type { Form } from "../json/form.js";
import { asBytes } from "../source/bytes.js";
import { cutText } from "./cut-text.js";
import { statedText } from "./inline-form.js";

export interface Shortened {
  truncated: true;
  preview: string;
  message: string;
}

/** At most `limit` bytes of JSON. */
export async function shortened(
  value: unknown,
  form: Form,
  { code }: HarnessFileError,
  limit: number,
): Promise<Shortened> {
  const result: Shortened = {
    truncated: true,
    preview: "",
    message: `The result is too large and could not be stored (${code}): this is its beginning, the rest is lost.`,
  };
  const room = limit - jsonBytes(result);
  const text = await beginning(value, form, room);
  result.preview = cutText(text, room);
  while (jsonBytes(result) > limit) result.preview = cutText(result.preview, Math.floor(result.preview.length * 0.75));
  return result;
}

async function beginning(value: unknown, form: Form, bytes: number): Promise<string> {
  if (typeof value === "string") return value;
  const content = asBytes(value);
  if (content !== undefined) return isUtf8(content) ? Buffer.from(content.subarray(0, bytes)).toString() : "";
  try {
    return (await statedText(value, form, bytes)).bytes.toString();
  } catch {
    return ""; // that it cannot be written at all is why it was not stored
  }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
