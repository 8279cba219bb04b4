// The options of the FileWriter's methods, checked and brought into the shape the addon takes.
import { HarnessFileError } from "./errors.js";
import * as check from "./check.js";
import type { NativeListOptions, NativeReadOptions, NativeRemoveOptions, NativeWriteOptions } from "./native.js";

/** Long before a path is this long the grammar refuses it; no need to carry it over. */
const MAX_PATH_LENGTH = 32_768;
const MAX_READ_BYTES = 512 * 1024 * 1024;
const MAX_PATTERN_LENGTH = 4096;

/** Who writes, for events. */
export interface Writer {
  readonly source: string;
  readonly origin: NativeWriteOptions["origin"];
  readonly turnId?: string;
}

/** What is said of the content apart from the options. */
export interface MediaTypes {
  mediaType?: string;
  fallbackMediaType?: string;
}

/** The rest of the grammar is checked natively, where the path is resolved. */
export function checkPath(path: unknown): string {
  if (typeof path !== "string") {
    throw invalidPath(
      `A path must be a string that starts with "/", not ${path === null ? "null" : `a value of type ${typeof path}`}`,
    );
  }
  if (path.length > MAX_PATH_LENGTH) throw invalidPath("The path is longer than 4,096 bytes");
  if (!path.isWellFormed()) throw invalidPath(`The path holds a lone surrogate: ${JSON.stringify(path.slice(0, 256))}`);
  return path;
}

function invalidPath(message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_PATH", message);
}

/** The label a write was given, also while its options have not been checked: a refusal tells it. */
export function sourceOf(options: unknown, writer: Writer): string {
  try {
    return check.readOptions(options, (given) => check.label(given, "source", 256)) ?? writer.source;
  } catch {
    return writer.source;
  }
}

export function writeOptions(
  options: unknown,
  writer: Writer,
  types: MediaTypes,
): { native: NativeWriteOptions; signal: AbortSignal | undefined } {
  return check.readOptions(options, (given) => {
    const mediaType = check.label(given, "mediaType", 1024) ?? types.mediaType;
    const metadata = check.jsonObject(given, "metadata");
    const ifMatch = check.sha256(given, "ifMatch");
    const ifNoneMatch = check.oneOf(given, "ifNoneMatch", ["*"]) !== undefined;
    if (ifMatch !== undefined && ifNoneMatch) {
      throw new HarnessFileError("FS_INVALID_OPTION", "ifMatch and ifNoneMatch exclude each other");
    }
    const native: NativeWriteOptions = {
      source: check.label(given, "source", 256) ?? writer.source,
      origin: writer.origin,
      ...(mediaType !== undefined && { mediaType }),
      ...(types.fallbackMediaType !== undefined && { fallbackMediaType: types.fallbackMediaType }),
      ...(metadata !== undefined && { metadata }),
      ...artifact(given, metadata),
      ...(ifMatch !== undefined && { ifMatch }),
      ...(ifNoneMatch && { ifNoneMatch }),
      ...(writer.turnId !== undefined && { turnId: writer.turnId }),
    };
    return { native, signal: check.signal(given) };
  });
}

type Mark = Pick<NativeWriteOptions, "artifact" | "artifactName" | "artifactMetadata">;

/** The file's metadata is the artifact's too, unless that is described by itself. */
function artifact(options: check.Options, metadata: string | undefined): Mark {
  const value = options["artifact"];
  if (
    value !== undefined &&
    typeof value !== "boolean" &&
    (typeof value !== "object" || value === null || Array.isArray(value))
  ) {
    throw check.invalidOption("artifact", "a boolean or an object { name?, metadata? }", value);
  }
  if (typeof value !== "object") {
    return {
      ...(value !== undefined && { artifact: value }),
      ...(metadata !== undefined && { artifactMetadata: metadata }),
    };
  }
  const artifactName = check.label(value as check.Options, "name", 1024);
  const artifactMetadata = check.jsonObject(value as check.Options, "metadata");
  return {
    artifact: true,
    ...(artifactName !== undefined && { artifactName }),
    ...(artifactMetadata !== undefined && { artifactMetadata }),
  };
}

export function readOptions(options: unknown): { native: NativeReadOptions; signal: AbortSignal | undefined } {
  return check.readOptions(options, (given) => ({
    native: {
      ...check.range(given),
      maxBytes: check.count(given, "maxBytes") ?? MAX_READ_BYTES,
      utf8: check.oneOf(given, "encoding", ["bytes", "utf8"]) === "utf8",
    },
    signal: check.signal(given),
  }));
}

export function streamOptions(options: unknown): { start?: number; end?: number; signal: AbortSignal | undefined } {
  return check.readOptions(options, (given) => ({ ...check.range(given), signal: check.signal(given) }));
}

export function listOptions(options: unknown): { native: NativeListOptions; signal: AbortSignal | undefined } {
  return check.readOptions(options, (given) => {
    const pattern = check.text(given, "pattern", MAX_PATTERN_LENGTH);
    const limit = check.limit(given);
    const after = check.text(given, "after", MAX_PATH_LENGTH);
    const native: NativeListOptions = {
      recursive: check.flag(given, "recursive"),
      ...(pattern !== undefined && { pattern }),
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { after }),
    };
    return { native, signal: check.signal(given) };
  });
}

export function removeOptions(
  options: unknown,
  writer: Writer,
): { native: NativeRemoveOptions; signal: AbortSignal | undefined } {
  return check.readOptions(options, (given) => {
    const ifMatch = check.sha256(given, "ifMatch");
    const native: NativeRemoveOptions = {
      recursive: check.flag(given, "recursive"),
      force: check.flag(given, "force"),
      source: writer.source,
      ...(ifMatch !== undefined && { ifMatch }),
      ...(writer.turnId !== undefined && { turnId: writer.turnId }),
    };
    return { native, signal: check.signal(given) };
  });
}
