// The media type of an image that came without one, by its first bytes: as the AI SDK finds it, for what models take.
import type { FileContent } from "../../index.js";
import { Base64Bytes } from "./base64-bytes.js";

const SIGNATURES: ReadonlyArray<readonly [mediaType: string, signature: RegExp]> = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

export function imageType(content: FileContent): string | undefined {
  const bytes = content instanceof Uint8Array ? content : content instanceof Base64Bytes ? content.first() : undefined;
  if (bytes === undefined) return undefined;
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
}
