// All the tools, under the names that the developer gave them.
import type { FileToolName, FileToolsOptions, fileTools as Contract } from "../../tools.js";
import { editTool } from "./edit.js";
import { globTool } from "./glob.js";
import { grepTool } from "./grep.js";
import { listTool } from "./list.js";
import { Observer } from "./observer.js";
import { settingsOf } from "./options.js";
import { queryTool } from "./query.js";
import { readTool } from "./read.js";
import { removeTool } from "./remove.js";
import { todoWriteTool } from "./todo-write.js";
import type { FileTool, Kit } from "./tool.js";
import { writeTool } from "./write.js";

const TOOLS: Readonly<Record<FileToolName, (kit: Kit) => FileTool>> = {
  read: readTool,
  query: queryTool,
  write: writeTool,
  edit: editTool,
  list: listTool,
  glob: globTool,
  grep: grepTool,
  remove: removeTool,
  todo_write: todoWriteTool,
};

export function fileTools<const N extends Partial<Record<FileToolName, string>> = {}>(
  options?: FileToolsOptions<N>,
): ReturnType<typeof Contract<N>> {
  const { observation, limits, names, planDir } = settingsOf(options);
  const guardText =
    observation === false
      ? ""
      : ` A file that is there must have been read with ${names.read} before, and be unchanged since.`;
  const kit: Kit = { limits, names, observer: new Observer(observation), guardText, planDir };
  const made = (Object.keys(TOOLS) as FileToolName[]).map((name) => [names[name], TOOLS[name](kit)] as const);
  return Object.fromEntries(made) as ReturnType<typeof Contract<N>>;
}
