// Looks at a part of a message and says which file it holds: the shapes of AI SDK 4 to 7, and File objects. A part that holds
// none, or one that only its provider has, is no business of ours.
import type { FileContent } from "../../index.js";
import { isBlob } from "../content.js";
import { asBytes } from "../source/bytes.js";
import { Base64Bytes } from "./base64-bytes.js";
import { isDataUrl, parseDataUrl } from "./data-url.js";
import { best, mediaTypeOf } from "./media-type.js";
import { sampleOfBytes, sampleOfText } from "./sample.js";

/** A file that is in the message itself. */
export interface Inline {
  readonly content: FileContent;
  readonly bytes?: number;
  /** Of the content: tells whether it is still the same. */
  readonly sample: string;
}

export interface FilePart {
  readonly part: unknown;
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** Where it is: in the message, or behind a URL. */
  readonly file: Inline | URL;
}

/** What a value alone says of its file. */
interface Found {
  readonly file: Inline | URL;
  readonly mediaType?: string | undefined;
  readonly name?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const SCHEME = /^[\u0000-\u0020]*[a-z][a-z0-9+.-]*:/i;
/** No server takes longer ones. */
const MAX_URL_LENGTH = 64 * 1024;

export function filePart(part: unknown): FilePart | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  const fields = part as Fields;
  if (isBlob(part)) return described(part, {}, fromBlob(part), undefined);
  if (fields["type"] === "file" && (fields["providerReference"] ?? undefined) === undefined) {
    return described(part, fields, fileOf(fields["data"] ?? fields["file"]) ?? fromUrl(fields["url"]), undefined);
  }
  if (fields["type"] === "image") return described(part, fields, fileOf(fields["image"] ?? fields["data"]), "image/*");
  return undefined;
}

/** Of `experimental_attachments`: a File, or `{ name?, contentType?, url }`. */
export function attachment(part: unknown): FilePart | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  if (isBlob(part)) return described(part, {}, fromBlob(part), undefined);
  return described(part, part as Fields, fromUrl((part as Fields)["url"]), undefined);
}

function described(
  part: object,
  fields: Fields,
  found: Found | undefined,
  fallback: string | undefined,
): FilePart | undefined {
  if (found === undefined) return undefined;
  const named = mediaTypeOf(fields["mediaType"] ?? fields["mimeType"] ?? fields["contentType"]);
  const name = [fields["filename"], fields["name"], found.name].find((each) => typeof each === "string" && each !== "");
  return {
    part,
    name: name as string | undefined,
    mediaType: best(named, found.mediaType, fallback),
    file: found.file,
  };
}

function fileOf(value: unknown): Found | undefined {
  if (typeof value === "string") return SCHEME.test(value.slice(0, 256)) ? fromUrl(value) : fromBase64(value);
  const bytes = asBytes(value);
  if (bytes !== undefined) return { file: { content: bytes, bytes: bytes.byteLength, sample: sampleOfBytes(bytes) } };
  if (typeof value !== "object" || value === null) return undefined;
  if (isBlob(value)) return fromBlob(value);
  if (isUrl(value)) return fromUrl(value);
  // AI SDK 7 tags them.
  const { type, data, url, text } = value as Fields;
  if (type === "data") return fileOf(data);
  if (type === "url") return fromUrl(url);
  if (type === "text" && typeof text === "string") return fromText(text);
  return undefined;
}

function fromBlob(blob: Blob): Found {
  const { name } = blob as { name?: unknown };
  return {
    file: { content: blob, bytes: blob.size, sample: sampleOfText(`blob ${blob.size}`) },
    mediaType: mediaTypeOf(blob.type),
    name: typeof name === "string" ? name : undefined,
  };
}

function fromBase64(text: string): Found {
  return { file: { content: new Base64Bytes(text), sample: sampleOfText(text) } };
}

function fromText(text: string): Found {
  return { file: { content: text, sample: sampleOfText(text) }, mediaType: "text/plain" };
}

/** undefined for a URL that is neither the content itself nor on the web. */
function fromUrl(value: unknown): Found | undefined {
  const text = typeof value === "string" ? value : isUrl(value) ? value.href : undefined;
  if (text === undefined) return undefined;
  if (isDataUrl(text)) {
    const { content, mediaType } = parseDataUrl(text);
    return { file: { content, sample: sampleOfText(text) }, mediaType };
  }
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || url?.protocol === "http:" ? { file: url, name: nameIn(url) } : undefined;
}

function isUrl(value: unknown): value is URL {
  return typeof value === "object" && value !== null && "href" in value && typeof value.href === "string";
}

/** The last part of its path. */
function nameIn(url: URL): string | undefined {
  const segment = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
