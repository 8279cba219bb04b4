// A range of lines, 1-based and inclusive, with the line ends that the file has.
import * as check from "../check.js";

export function linesOf(text: string, startLine?: number, endLine?: number): string {
  const { start, end } = check.readOptions({ startLine, endLine }, (given) => ({
    start: check.count(given, "startLine"),
    end: check.count(given, "endLine"),
  }));
  if (start === undefined && end === undefined) return text;
  const lineEnd = ["\r\n", "\n", "\r"].find((each) => text.includes(each)) ?? "\n";
  const from = startOf(text, lineEnd, Math.max(1, start ?? 1));
  if (from === undefined) return "";
  const after = end === undefined ? undefined : startOf(text, lineEnd, end + 1);
  return text.slice(from, after === undefined ? text.length : Math.max(from, after - lineEnd.length));
}

/** Where the line begins; undefined past the last one. */
function startOf(text: string, lineEnd: string, line: number): number | undefined {
  let at = 0;
  for (let number = 1; number < line; number++) {
    const next = text.indexOf(lineEnd, at);
    if (next < 0) return undefined;
    at = next + lineEnd.length;
  }
  return at;
}
