// The tool `list`: what is in a folder.
import { entryLine } from "./entries.js";
import { PageText } from "./page-text.js";
import { STATUS_BYTES } from "./read-lines.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

export function listTool(kit: Kit): FileTool {
  const { limits } = kit;
  return fileTool(kit, {
    name: "list",
    description: `Lists a folder, sorted by path: folders end with "/". At most ${limits.entries} entries at a time, from \`offset\` (0-based).`,
    properties: {
      path: { type: "string", description: "Absolute path of the folder" },
      recursive: { type: "boolean", description: "With all that is below it. Default false" },
      offset: { type: "integer", minimum: 0, description: "First entry, from 0" },
      limit: { type: "integer", minimum: 1, maximum: limits.entries, description: "At most so many entries" },
    },
    required: ["path"],
    steps: { FS_NOT_FOUND: ({ list }) => `See with ${list} what is in the folder above it.` },
    run: async (input, call) => {
      const offset = input.count("offset", 0) ?? 0;
      const options = {
        recursive: input.flag("recursive"),
        offset,
        limit: input.count("limit", 1, limits.entries) ?? limits.entries,
      };
      const { entries, total } = await call.access.page("list", input.text("path"), options, call.signal);
      if (total === 0) return "The folder is empty.";
      if (entries.length === 0) return `No entries from ${offset} on; there are ${total}.`;
      const page = new PageText(limits.bytes - STATUS_BYTES);
      for (const entry of entries) if (!page.add(entryLine(entry))) break;
      const end = offset + page.lines;
      const more = end < total ? `continue with offset: ${end}` : "that is all";
      return page.ended(`Entries ${offset}-${end - 1} of ${total}; ${more}`);
    },
  });
}
