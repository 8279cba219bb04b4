// A window of bytes, in whole characters.
import { HarnessFileError } from "../errors.js";
import type { FsTarget } from "../../tools.js";
import type { Input } from "./input.js";
import { STATUS_BYTES } from "./read-lines.js";
import type { Shown } from "./read.js";
import type { Call, Kit } from "./tool.js";

/** So that a character always fits. */
const MIN_BYTES = 4;

export function bytesWindow({ limits }: Kit, input: Input): (target: FsTarget, call: Call) => Promise<Shown> {
  const most = limits.bytes - STATUS_BYTES;
  const options = {
    offset: input.count("byte_offset", 0) ?? 0,
    limit: input.count("byte_limit", MIN_BYTES, most) ?? most,
  };
  return async ({ displayPath }, call) => {
    const window = await call.access.reading("read", displayPath, call.signal, (native, path, cancellation) =>
      native.byteWindow(path, options, cancellation?.native),
    );
    const { version, media, text, start, end, bytes, path } = window;
    if (media !== undefined) {
      throw new HarnessFileError("FS_NOT_TEXT", `Not text but ${media}: ${path}. Read it without byte_offset.`, {
        path,
      });
    }
    if (start === end) return { version, text: `No bytes from ${options.offset} on; the file has ${bytes}.` };
    const more = end < bytes ? `continue with byte_offset: ${end}` : "end of file";
    return { version, text: `${text}\n\nBytes ${start}-${end - 1} of ${bytes}; ${more}` };
  };
}
