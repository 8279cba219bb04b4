// The tool `write`: a whole text file.
import { writeGuarded } from "../file-system/write-guarded.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

export function writeTool(kit: Kit): FileTool {
  const { names, observer } = kit;
  return fileTool(kit, {
    name: "write",
    description: `Writes a text file as a whole; folders are made as needed.${kit.guardText} To change some lines use ${names.edit}.`,
    properties: {
      file_path: { type: "string", description: "Absolute path of the file" },
      content: { type: "string", description: "All that the file is to hold" },
    },
    required: ["file_path", "content"],
    run: async (input, call) => {
      const path = input.text("file_path");
      const content = input.text("content");
      const target = await call.target(path);
      const guard = await call.decided(path, () => observer.writeIntent(target, call.actor));
      const { signal } = call;
      const { operation, version, written } = await writeGuarded(call.access, path, content, guard, { signal });
      observer.present(target, version, call.actor);
      return `${operation === "create" ? "Created" : "Replaced"} ${written.path} (${written.bytes} bytes)`;
    },
  });
}
