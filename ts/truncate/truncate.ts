// pi's truncation: a beginning or an end of whole lines, bounded in lines and in bytes of UTF-8.
import type { TruncationResult } from "../../tools.js";
import * as check from "../check.js";
import { countLines, endOfLastLine, lineEnd, lineStart } from "./lines.js";

export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 51_200;
const DEFAULT_LINE_CHARACTERS = 500;
const LINE_MARK = "... [truncated]";

type Limits = Pick<TruncationResult, "maxLines" | "maxBytes">;
type Totals = Limits & Pick<TruncationResult, "totalLines" | "totalBytes">;

/** What was kept of a text that is over a limit. */
interface Kept {
  readonly content: string;
  readonly lines: number;
  readonly truncatedBy: "lines" | "bytes";
  readonly lastLinePartial?: boolean;
  readonly firstLineExceedsLimit?: boolean;
}

export function truncateHead(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult {
  return truncated(text, options, head);
}

export function truncateTail(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult {
  return truncated(text, options, tail);
}

export function truncateLine(line: string, maxCharacters?: number): string {
  const given = check.readOptions({ maxCharacters }, (options) => check.count(options, "maxCharacters"));
  const limit = given ?? DEFAULT_LINE_CHARACTERS;
  if (checkText(line).length <= limit) return line;
  // A pair that is cut through goes as a whole.
  return line.slice(0, limit).replace(/[\ud800-\udbff]$/, "") + LINE_MARK;
}

/** Infinity: there is none. */
function limitOf(options: check.Options, name: "maxLines" | "maxBytes"): number | undefined {
  return options[name] === Infinity ? Infinity : check.count(options, name);
}

function truncated(text: string, options: unknown, keep: (text: string, limits: Limits) => Kept): TruncationResult {
  const limits = check.readOptions(options, (given) => ({
    maxLines: limitOf(given, "maxLines") ?? DEFAULT_MAX_LINES,
    maxBytes: limitOf(given, "maxBytes") ?? DEFAULT_MAX_BYTES,
  }));
  const totals: Totals = {
    totalLines: countLines(checkText(text)),
    totalBytes: Buffer.byteLength(text),
    ...limits,
  };
  if (totals.totalLines <= limits.maxLines && totals.totalBytes <= limits.maxBytes) return whole(text, totals);
  const kept = keep(text, limits);
  return {
    content: kept.content,
    truncated: true,
    truncatedBy: kept.truncatedBy,
    outputLines: kept.lines,
    outputBytes: Buffer.byteLength(kept.content),
    lastLinePartial: kept.lastLinePartial ?? false,
    firstLineExceedsLimit: kept.firstLineExceedsLimit ?? false,
    ...totals,
  };
}

function whole(text: string, totals: Totals): TruncationResult {
  return {
    content: text,
    truncated: false,
    truncatedBy: null,
    outputLines: totals.totalLines,
    outputBytes: totals.totalBytes,
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    ...totals,
  };
}

function head(text: string, { maxLines, maxBytes }: Limits): Kept {
  const last = endOfLastLine(text);
  let end = 0;
  let lines = 0;
  let bytes = 0;
  let over = false;
  for (let start = 0; lines < maxLines && start <= last; start = end + 1) {
    const next = lineEnd(text, start);
    const size = sizeUpTo(text, start, next, maxBytes - bytes) + (lines > 0 ? 1 : 0);
    over = bytes + size > maxBytes;
    if (over) break;
    bytes += size;
    lines++;
    end = next;
  }
  const firstLineExceedsLimit = lines === 0 && sizeUpTo(text, 0, lineEnd(text, 0), maxBytes) > maxBytes;
  return {
    content: text.slice(0, end),
    lines,
    firstLineExceedsLimit,
    truncatedBy: firstLineExceedsLimit || over ? "bytes" : "lines",
  };
}

function tail(text: string, { maxLines, maxBytes }: Limits): Kept {
  const last = endOfLastLine(text);
  let begin = last;
  let lines = 0;
  let bytes = 0;
  for (let end = last; lines < maxLines && end >= 0; end = begin - 1) {
    const start = lineStart(text, end);
    const size = sizeUpTo(text, start, end, maxBytes - bytes) + (lines > 0 ? 1 : 0);
    if (bytes + size > maxBytes) {
      if (lines > 0) return { content: text.slice(begin, last), lines, truncatedBy: "bytes" };
      const content = endOf(text.slice(start, end), maxBytes);
      return { content, lines: 1, truncatedBy: maxLines > 1 ? "bytes" : "lines", lastLinePartial: true };
    }
    bytes += size;
    lines++;
    begin = start;
  }
  return { content: text.slice(begin, last), lines, truncatedBy: "lines" };
}

/** In bytes; one that has more characters than the limit is not looked at. */
function sizeUpTo(text: string, start: number, end: number, limit: number): number {
  return end - start > limit ? end - start : Buffer.byteLength(text.slice(start, end));
}

/** The longest end of whole characters; half a pair becomes U+FFFD. */
function endOf(line: string, maxBytes: number): string {
  // No character has fewer bytes than units of UTF-16, so the rest of the line can be left alone.
  const bytes = Buffer.from(line.slice(Math.max(0, line.length - maxBytes - 1)));
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}

function checkText(value: unknown): string {
  if (typeof value === "string") return value;
  throw check.invalidOption("text", "a string", value);
}
