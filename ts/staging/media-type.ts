// Media types of files that come with none, or with half of one, and extensions for files that come without a name.

const FULL = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
const WITH_PARAMETERS = /^([^;]{1,256})\s*(?:;.*)?$/s;

/** Of what people send; anything else goes without. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["application/gzip", "gz"],
  ["application/json", "json"],
  ["application/msword", "doc"],
  ["application/pdf", "pdf"],
  ["application/rtf", "rtf"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.ms-powerpoint", "ppt"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/xml", "xml"],
  ["application/zip", "zip"],
  ["audio/mp4", "m4a"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/wav", "wav"],
  ["audio/webm", "weba"],
  ["image/avif", "avif"],
  ["image/bmp", "bmp"],
  ["image/gif", "gif"],
  ["image/heic", "heic"],
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/svg+xml", "svg"],
  ["image/tiff", "tiff"],
  ["image/webp", "webp"],
  ["text/css", "css"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/javascript", "js"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["text/xml", "xml"],
  ["video/mp4", "mp4"],
  ["video/quicktime", "mov"],
  ["video/webm", "webm"],
]);

/** `type/subtype` without parameters, in lower case; "image/*" for the half that AI SDK 7 allows; undefined for no type. */
export function mediaTypeOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 1024) return undefined;
  const essence = WITH_PARAMETERS.exec(value.trim())?.[1]?.trim().toLowerCase() ?? "";
  if (FULL.test(essence) || /^[a-z]+\/\*$/.test(essence)) return essence;
  return /^[a-z]+$/.test(essence) ? `${essence}/*` : undefined;
}

export function isFull(mediaType: string | undefined): mediaType is string {
  return mediaType !== undefined && !mediaType.endsWith("/*");
}

/** The first of them that is a whole type, else the first that is half of one. */
export function best(...mediaTypes: ReadonlyArray<string | undefined>): string | undefined {
  return mediaTypes.find(isFull) ?? mediaTypes.find((each) => each !== undefined);
}

/** With its dot, or empty. */
export function extensionOf(mediaType: string | undefined): string {
  const extension = mediaType === undefined ? undefined : EXTENSIONS.get(mediaType);
  return extension === undefined ? "" : `.${extension}`;
}
