// The tool `remove`: a file, or a folder with all in it.
import { type FileTool, type Kit, fileTool } from "./tool.js";

export function removeTool(kit: Kit): FileTool {
  const { observer } = kit;
  return fileTool(kit, {
    name: "remove",
    description: "Removes a file or a link; with `recursive` a folder and all in it. There is no way back.",
    properties: {
      path: { type: "string", description: "Absolute path" },
      recursive: { type: "boolean", description: "Needed for a folder. Default false" },
    },
    required: ["path"],
    steps: { FS_NOT_REGULAR_FILE: () => "Give recursive: true to remove it with all that is in it." },
    run: async (input, call) => {
      const path = input.text("path");
      const recursive = input.flag("recursive");
      const { displayPath } = await call.target(path);
      const { signal } = call;
      await call.access.files.remove(path, { recursive, ...(signal !== undefined && { signal }) });
      // Only now: a link was no name of its own as long as it was there.
      observer.absent(await call.target(path), call.actor);
      return `Removed ${displayPath}`;
    },
  });
}
