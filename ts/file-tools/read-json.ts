// A window of what a JSON pointer names.
import { HarnessFileError } from "../errors.js";
import type { NativeJsonItem, NativeJsonWindow } from "../native.js";
import type { FsTarget } from "../../tools.js";
import type { Input } from "./input.js";
import { PageText } from "./page-text.js";
import { STATUS_BYTES } from "./read-lines.js";
import type { Shown } from "./read.js";
import type { Call, Kit } from "./tool.js";

const ITEMS = new Set<NativeJsonWindow["type"]>(["object", "array", "ndjson"]);

export function jsonWindow({ limits }: Kit, input: Input): (target: FsTarget, call: Call) => Promise<Shown> {
  const maxBytes = limits.bytes - STATUS_BYTES;
  const options = {
    pointer: input.text("pointer").toWellFormed(),
    offset: input.count("offset", 0) ?? 0,
    limit: input.count("limit", 1, limits.bytes) ?? limits.bytes,
    maxBytes,
  };
  return async ({ displayPath }, call) => {
    const window = await call.access.reading("read", displayPath, call.signal, (native, path, cancellation) =>
      native.jsonWindow(path, options, cancellation?.native),
    );
    const { path, version, total, type } = window;
    if (options.offset > 0 && options.offset >= total) {
      const what = `offset ${options.offset} is past the end (ENOENT): the ${type} has ${total}`;
      throw new HarnessFileError("FS_NOT_FOUND", `${what}. Offsets start at 0. ${path}`, { path });
    }
    return {
      version,
      text: ITEMS.has(type) ? items(window, options) : scalar(window, options.offset),
    };
  };
}

interface Wanted {
  readonly pointer: string;
  readonly offset: number;
  readonly maxBytes: number;
}

function items({ type, total, items: found }: NativeJsonWindow, { pointer, offset, maxBytes }: Wanted): string {
  if (total === 0) return `The ${type} is empty.`;
  const page = new PageText(maxBytes);
  for (const [at, item] of found.entries()) {
    const name = type === "object" ? JSON.stringify(item.key ?? "") : String(offset + at);
    if (!page.add(`${name}: ${itemText(item, pointer)}`)) break;
  }
  const end = offset + page.lines;
  return page.ended(`Items ${offset}-${end - 1} of ${total} (${type}); ${goOn(end, total)}`);
}

/** `whole` is the pointer to what the item is in. */
function itemText({ json, type, size, bytes, pointer }: NativeJsonItem, whole: string): string {
  if (json !== undefined) return json;
  const count = size !== undefined && type !== "string" ? ` of ${size} items` : "";
  // A key that was cut cannot be pointed to.
  const how = pointer === whole ? "the key is too long: read it by bytes" : `read pointer: ${JSON.stringify(pointer)}`;
  return `(${type}${count}, ${bytes} bytes; ${how})`;
}

function scalar({ type, total, text = "", nextOffset }: NativeJsonWindow, offset: number): string {
  if (type !== "string") return text;
  if (total === 0) return "The string is empty.";
  const end = nextOffset ?? total;
  return `${text}\n\nCharacters ${offset}-${end - 1} of ${total} (string); ${goOn(end, total)}`;
}

function goOn(end: number, total: number): string {
  return end < total ? `continue with offset: ${end}` : "that is all";
}
