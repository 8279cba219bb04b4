// The tool `grep`: lines by regular expression.
import type { NativeGrepFile, NativeGrepResult } from "../native.js";
import { refused } from "./input.js";
import { PageText } from "./page-text.js";
import { isInRoot, placed } from "./placed.js";
import { STATUS_BYTES } from "./read-lines.js";
import { inRoots } from "./roots.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

const MAX_PATTERN_LENGTH = 4096;
/** Enough to see what a line is about. */
const LINE_CHARACTERS = 500;
const MAX_CONTEXT = 20;

export function grepTool(kit: Kit): FileTool {
  const { limits, names } = kit;
  return fileTool(kit, {
    name: "grep",
    description: [
      "Searches files for lines that match a regular expression (Rust syntax: no look-around, no back-references), in the file or",
      `below the folder \`path\` (default: everywhere). At most ${limits.matches} matching lines are shown, all are counted.`,
    ].join(" "),
    properties: {
      pattern: { type: "string", description: "Regular expression" },
      path: { type: "string", description: "Absolute path of a file or folder" },
      glob: { type: "string", description: 'Only such files: "*.ts", or "src/**/*.ts" below path' },
      ignore_case: { type: "boolean", description: "Default false" },
      context: { type: "integer", minimum: 0, maximum: MAX_CONTEXT, description: "Lines before and after each match" },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: limits.matches,
        description: "Show at most so many matching lines",
      },
    },
    required: ["pattern"],
    run: async (input, call) => {
      const { folder, glob } = lookedFor(names.grep, input.optionalText("glob"), input.optionalText("path"));
      const options = {
        pattern: checked(names.grep, input.text("pattern"), "pattern"),
        ignoreCase: input.flag("ignore_case"),
        context: input.count("context", 0, MAX_CONTEXT) ?? 0,
        limit: input.count("limit", 1, limits.matches) ?? limits.matches,
        maxLineCharacters: Math.min(limits.lineCharacters, LINE_CHARACTERS),
        maxBytes: limits.bytes - STATUS_BYTES,
        ...(glob !== undefined && { glob }),
      };
      const results = await inRoots(folder, (path) =>
        call.access.call("grep", path, call.signal, (native, checkedPath, cancellation) =>
          native.grep(checkedPath, options, cancellation?.native),
        ),
      );
      return said(results, options.limit, options.maxBytes);
    },
  });
}

function checked(tool: string, value: string, name: string): string {
  if (value !== "" && value.length <= MAX_PATTERN_LENGTH && value.isWellFormed()) return value;
  throw refused(`${tool}: ${name} must be text of 1 to ${MAX_PATTERN_LENGTH} characters`);
}

/**
 * A glob may begin with the folder itself. With a slash, also one at its beginning, it is of the path below the folder, without
 * one of the name alone.
 */
function lookedFor(
  tool: string,
  glob: string | undefined,
  path: string | undefined,
): { folder: string | undefined; glob?: string } {
  if (glob === undefined) return { folder: path };
  checked(tool, glob, "glob");
  if (!isInRoot(glob)) return { folder: path, glob: glob.replace(/^(?:\.\/)+(?=.)/, "/") };
  const found = placed(glob, path);
  if (found === undefined)
    throw refused(`${tool}: glob is of what is below path; leave one out, or begin glob with path`);
  return { folder: found.folder, glob: `/${found.pattern}` };
}

function said(results: readonly NativeGrepResult[], limit: number, maxBytes: number): string {
  const sum = (count: (result: NativeGrepResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const total = sum(({ totalMatches }) => totalMatches);
  const leftOut = leftOutText(
    sum(({ binaryFiles }) => binaryFiles),
    sum(({ skippedFiles }) => skippedFiles),
  );
  if (total === 0) return `No match in ${sum(({ searchedFiles }) => searchedFiles)} files${leftOut}.`;
  const page = new PageText(maxBytes);
  let shown = 0;
  for (const file of results.flatMap(({ files }) => files)) {
    const added = addFile(page, file, limit - shown);
    shown += added.shown;
    if (!added.all) break;
  }
  const atLeast = results.every(({ complete }) => complete) ? "" : "at least ";
  const all = `${atLeast}${total} in ${sum(({ totalFiles }) => totalFiles)} files${leftOut}`;
  return page.ended(
    shown < total
      ? `${shown} matching lines of ${all}; narrow the pattern, path or glob to see others`
      : `Matching lines: ${all}`,
  );
}

function addFile(page: PageText, { path, lines }: NativeGrepFile, room: number): { shown: number; all: boolean } {
  if (room <= 0 || !page.add(path)) return { shown: 0, all: false };
  let shown = 0;
  let last: number | undefined;
  const grouped = lines.some(({ match }) => !match);
  for (const { line, text, match, cut, byteOffset } of lines) {
    if (match && shown === room) return { shown, all: false };
    // Where lines are left out between two groups; without context every line stands by itself.
    if (grouped && last !== undefined && line > last + 1 && !page.add("--")) return { shown, all: false };
    if (!page.add(`${line}${match ? ":" : "-"}${text}${cut ? `… (cut; byte_offset: ${byteOffset})` : ""}`))
      return { shown, all: false };
    last = line;
    if (match) shown++;
  }
  return { shown, all: true };
}

function leftOutText(binary: number, skipped: number): string {
  const parts = [binary > 0 && `${binary} binary`, skipped > 0 && `${skipped} unreadable`].filter(Boolean);
  return parts.length === 0 ? "" : `, ${parts.join(" and ")} left out`;
}
