// A whole text with its version, read in windows: one long string from the addon would hold the loop while it is made.
import type { FsVersion } from "../../tools.js";
import { HarnessFileError } from "../errors.js";
import type { NativeByteWindow } from "../native.js";
import type { Access } from "./access.js";

/** The longest that a string can be, whatever its characters. */
const MAX_TEXT_BYTES = 2 ** 29 - 24;
const WINDOW_BYTES = 256 * 1024;
/** Each time somebody changed the file in between; then it is read in one go. */
const ATTEMPTS = 5;

export async function readText(
  access: Access,
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ text: string; version: FsVersion }> {
  for (let attempt = 1; ; attempt++) {
    const found = await inWindows(access, path, signal, attempt < ATTEMPTS ? WINDOW_BYTES : MAX_TEXT_BYTES);
    if (found !== undefined) return found;
  }
}

/** undefined when not all windows were of one version. */
async function inWindows(
  access: Access,
  path: string,
  signal: AbortSignal | undefined,
  limit: number,
): Promise<{ text: string; version: FsVersion } | undefined> {
  let text = "";
  for (let version: string | undefined, offset = 0; ;) {
    const window = await windowAt(access, path, signal, offset, limit);
    version ??= window.version;
    if (window.version !== version) return undefined;
    text += window.text;
    offset = window.end;
    if (window.end === window.bytes) return { text, version: version as FsVersion };
  }
}

async function windowAt(
  access: Access,
  path: string,
  signal: AbortSignal | undefined,
  offset: number,
  limit: number,
): Promise<NativeByteWindow> {
  const window = await access.reading("readText", path, signal, (native, checked, cancellation) =>
    native.byteWindow(checked, { offset, limit }, cancellation?.native),
  );
  const { media, bytes, path: named } = window;
  const about = { path: named };
  if (media !== undefined) throw new HarnessFileError("FS_NOT_TEXT", `Not text but ${media}: ${named}`, about);
  if (bytes > MAX_TEXT_BYTES) {
    throw new HarnessFileError("FS_TOO_LARGE", `Longer than a string can be; use streamText: ${named}`, about);
  }
  return window;
}
