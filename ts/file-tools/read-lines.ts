// A window of lines.
import { HarnessFileError } from "../errors.js";
import type { NativeLineWindow } from "../native.js";
import type { FsTarget } from "../../tools.js";
import type { Input } from "./input.js";
import type { Shown } from "./read.js";
import type { Call, Kit } from "./tool.js";

/** For the status at the end. */
export const STATUS_BYTES = 512;
/** Cut lines that are told one by one. */
const TOLD = 3;
const LINE_ENDS: Partial<Record<NativeLineWindow["lineEnding"], string>> = { crlf: "CRLF", cr: "CR", mixed: "mixed" };

export function linesWindow({ limits }: Kit, input: Input): (target: FsTarget, call: Call) => Promise<Shown> {
  const offset = input.count("offset", 1) ?? 1;
  const options = {
    offset,
    limit: input.count("limit", 1, limits.lines) ?? limits.lines,
    maxLineCharacters: limits.lineCharacters,
    maxBytes: limits.bytes - STATUS_BYTES,
  };
  return async ({ displayPath }, call) => {
    const window = await call.access.reading("read", displayPath, call.signal, (native, path, cancellation) =>
      native.lineWindow(path, options, cancellation?.native),
    );
    const { version, media, text, lastLine, totalLines } = window;
    if (media !== undefined) return { version, media, text };
    if (lastLine === 0 && offset > Math.max(1, totalLines)) throw pastEnd(window, offset);
    return { version, text: lastLine === 0 ? "The file is empty." : `${text}\n\n${status(window)}` };
  };
}

function status({ firstLine, lastLine, totalLines, lineEnding, cutLines }: NativeLineWindow): string {
  const more = lastLine < totalLines ? `continue with offset: ${lastLine + 1}` : "end of file";
  const ends = LINE_ENDS[lineEnding];
  const told = cutLines
    .slice(0, TOLD)
    .map(
      ({ line, characters, byteOffset }) =>
        `\nLine ${line} is cut, it has ${characters} characters; go on in it with byte_offset: ${byteOffset}`,
    );
  const others = cutLines.length > TOLD ? `\n${cutLines.length - TOLD} more lines are cut` : "";
  return `Lines ${firstLine}-${lastLine} of ${totalLines}; ${more}${ends === undefined ? "" : `; line ends: ${ends}`}${told.join("")}${others}`;
}

function pastEnd({ path, totalLines }: NativeLineWindow, offset: number): HarnessFileError {
  const use = totalLines === 0 ? "It is empty." : `Use an offset of 1 to ${totalLines}.`;
  const lines = totalLines === 1 ? "1 line" : `${totalLines} lines`;
  return new HarnessFileError(
    "FS_NOT_FOUND",
    `offset ${offset} is past the end of ${path}, which has ${lines} (ENOENT). ${use}`,
    {
      path,
    },
  );
}
