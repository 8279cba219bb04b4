// The tool `glob`: paths by pattern.
import { entryLine } from "./entries.js";
import { refused } from "./input.js";
import { PageText } from "./page-text.js";
import { type Placed, placed } from "./placed.js";
import { STATUS_BYTES } from "./read-lines.js";
import { inRoots } from "./roots.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

const MAX_PATTERN_LENGTH = 4096;

export function globTool(kit: Kit): FileTool {
  const { limits, names } = kit;
  return fileTool(kit, {
    name: "glob",
    description: [
      'Finds files and folders by a pattern, such as "**/*.ts", on the path below `path` (default: everywhere). Sorted by path,',
      `at most ${limits.entries} are shown.`,
    ].join(" "),
    properties: {
      pattern: { type: "string", description: "Glob: * within a name, ** across folders, ?, [a-z], {a,b}" },
      path: { type: "string", description: "Absolute path of the folder to look in" },
    },
    required: ["pattern"],
    run: async (input, call) => {
      const { folder, pattern } = lookedFor(names.glob, input.text("pattern"), input.optionalText("path"));
      const options = { recursive: true, pattern, offset: 0, limit: limits.entries };
      const pages = await inRoots(folder, (path) => call.access.page("glob", path, options, call.signal));
      const total = pages.reduce((sum, page) => sum + page.total, 0);
      if (total === 0) return "Nothing matches.";
      const page = new PageText(limits.bytes - STATUS_BYTES);
      for (const entry of pages.flatMap(({ entries }) => entries).slice(0, limits.entries)) {
        if (!page.add(entryLine(entry))) break;
      }
      const shown = page.lines;
      return page.ended(
        shown < total ? `1-${shown} of ${total}; narrow the pattern or path to see the others` : `${total} in all`,
      );
    },
  });
}

/** A pattern may begin with the folder itself. */
function lookedFor(tool: string, pattern: string, path: string | undefined): Placed {
  if (pattern === "" || pattern.length > MAX_PATTERN_LENGTH || !pattern.isWellFormed()) {
    throw refused(`${tool}: pattern must be text of 1 to ${MAX_PATTERN_LENGTH} characters`);
  }
  const found = placed(pattern, path);
  if (found === undefined) throw refused(`${tool}: a pattern with a path beside it must not start with /`);
  return found;
}
