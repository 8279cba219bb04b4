// The tool `read`: windows of lines, of bytes, and of what a JSON pointer names.
import type { FsTarget } from "../../tools.js";
import { HarnessFileError } from "../errors.js";
import { missing } from "../file-system/codes.js";
import { attachment, noticed, toModelOutput } from "./attachment.js";
import type { Input } from "./input.js";
import { final } from "./next-step.js";
import { bytesWindow } from "./read-bytes.js";
import { jsonWindow } from "./read-json.js";
import { linesWindow } from "./read-lines.js";
import { type Call, type FileTool, type Kit, fileTool } from "./tool.js";

/** What a window shows, and of which version of which file. */
export interface Shown {
  readonly version: string;
  readonly text: string;
  /** An image or a PDF instead of text. */
  readonly media?: string;
}

export function readTool(kit: Kit): FileTool & { toModelOutput: typeof toModelOutput } {
  const { limits, observer } = kit;
  const tool = fileTool(kit, {
    name: "read",
    description: [
      `Reads a file. A text file: lines from \`offset\` (1-based), at most ${limits.lines} and ${limits.bytes} bytes at a time;`,
      `longer lines are cut at ${limits.lineCharacters} characters. Line ends are shown as LF. The last line of the result says`,
      "which lines it shows, and how to go on. With `byte_offset` (0-based): so many bytes, in whole characters, for very long",
      'lines. With `pointer` (RFC 6901, "" for all): what it names in a JSON or NDJSON file, items from `offset` (0-based).',
      "Images and PDFs are shown as they are.",
    ].join(" "),
    properties: {
      file_path: { type: "string", description: "Absolute path of the file" },
      offset: { type: "integer", minimum: 0, description: "First line, from 1; with `pointer`: first item, from 0" },
      limit: {
        type: "integer",
        minimum: 1,
        description: `At most so many lines (up to ${limits.lines}), or items with \`pointer\``,
      },
      byte_offset: {
        type: "integer",
        minimum: 0,
        description: "First byte, from 0. Not with offset, limit or pointer",
      },
      byte_limit: { type: "integer", minimum: 4, description: "At most so many bytes. Only with byte_offset" },
      pointer: { type: "string", description: 'JSON pointer, such as "/rows/3/name"' },
    },
    required: ["file_path"],
    run: async (input, call) => {
      const window = windowOf(kit, input);
      const target = await call.target(input.text("file_path"));
      const shown = await window(target, call).catch((error: unknown) => missed(kit, target, call, error));
      const result = shown.media === undefined ? shown.text : await attachment(target.displayPath, shown.media, call);
      observer.present(target, shown.version, call.actor);
      return result;
    },
  });
  return { ...tool, execute: noticed(tool.execute), toModelOutput };
}

type Window = (target: FsTarget, call: Call) => Promise<Shown>;

function windowOf(kit: Kit, input: Input): Window {
  input.exclude(["byte_offset", "byte_limit"], ["offset", "limit", "pointer"]);
  if (input.has("pointer")) return jsonWindow(kit, input);
  return input.has("byte_offset") || input.has("byte_limit") ? bytesWindow(kit, input) : linesWindow(kit, input);
}

/** That there is no such file was seen as well: it may be made now. What it holds may also be what is missing. */
async function missed(kit: Kit, target: FsTarget, call: Call, error: unknown): Promise<never> {
  if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_FOUND") throw error;
  const there = await missing(call.access.version(target.displayPath, true));
  if (there !== undefined) throw final(error);
  kit.observer.absent(target, call.actor);
  throw error;
}
