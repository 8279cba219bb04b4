// `data:` URLs, taken apart. Their bytes are decoded only as they are read.
import { HarnessFileError } from "../errors.js";
import { Base64Bytes } from "./base64-bytes.js";
import { isFull, mediaTypeOf } from "./media-type.js";
import { PercentBytes } from "./percent-bytes.js";

const SCHEME = /^[\u0000-\u0020]*data:/i;
/** Far more than a media type with parameters takes. */
const MAX_HEAD = 8192;

export interface DataUrl {
  readonly mediaType: string;
  readonly content: Base64Bytes | PercentBytes;
}

export function isDataUrl(url: string): boolean {
  return SCHEME.test(url);
}

export function parseDataUrl(url: string): DataUrl {
  const start = SCHEME.exec(url)?.[0].length ?? 0;
  const comma = url.slice(start, start + MAX_HEAD).indexOf(",");
  if (comma < 0) throw new HarnessFileError("FS_INVALID_CONTENT", "The data: URL has no comma before its content");
  const head = url.slice(start, start + comma).replace(/[\t\n\r]/g, "");
  const base64 = /; *base64 *$/i.test(head);
  const named = mediaTypeOf(head.replace(/; *base64 *$/i, ""));
  const mediaType = isFull(named) ? named : "text/plain";
  const body = start + comma + 1;
  return { mediaType, content: base64 ? new Base64Bytes(url, body) : new PercentBytes(url, body) };
}
