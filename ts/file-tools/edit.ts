// The tool `edit`: literal replacements in a text file.
import type { NativeEdit, NativeEdited } from "../native.js";
import { as } from "../file-system/codes.js";
import { editsOf } from "../file-system/edits.js";
import { Input, refused } from "./input.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

/** A longer diff says no more than the edit itself did. */
const MAX_DIFF_BYTES = 8192;
const SINGLE = ["old_string", "new_string", "replace_all"] as const;

export function editTool(kit: Kit): FileTool {
  const { limits, names, observer } = kit;
  return fileTool(kit, {
    name: "edit",
    description: [
      "Replaces text in a file: `old_string`, exactly as it stands there and only once, by `new_string`; with `replace_all` every",
      "one. For several changes at once give `edits` instead: all are matched against the file as it is now, must not overlap,",
      `and are made together or not at all.${kit.guardText}`,
    ].join(" "),
    properties: {
      file_path: { type: "string", description: "Absolute path of the file" },
      old_string: { type: "string", description: "The text to replace" },
      new_string: { type: "string", description: "What to put there" },
      replace_all: { type: "boolean", description: "Replace every place. Default false" },
      edits: {
        type: "array",
        description: "Instead of old_string, new_string and replace_all: several of them",
        items: {
          type: "object",
          properties: {
            old_string: { type: "string" },
            new_string: { type: "string" },
            replace_all: { type: "boolean" },
          },
          required: ["old_string", "new_string"],
          additionalProperties: false,
        },
      },
    },
    required: ["file_path"],
    run: async (input, call) => {
      const path = input.text("file_path");
      const edits = editsIn(input, names.edit);
      const target = await call.target(path);
      const { version } = await call.decided(path, () => observer.editIntent(target, call.actor));
      const diffBytes = Math.min(MAX_DIFF_BYTES, limits.bytes >> 1);
      const edit = call.access.edit(path, edits, version, diffBytes, call.signal);
      const edited = await as("FS_NOT_FOUND", "FS_STALE_VERSION", edit);
      observer.present(target, edited.version, call.actor);
      return said(edited);
    },
  });
}

function editsIn(input: Input, tool: string): NativeEdit[] {
  input.exclude(SINGLE, ["edits"]);
  if (!input.has("edits")) {
    if (!input.has("old_string")) throw refused(`${tool} needs old_string and new_string, or edits`);
    return editsOf([one(input)]);
  }
  const edits = input.value("edits");
  if (!Array.isArray(edits)) throw input.wrong("edits", "an array of { old_string, new_string, replace_all? }", edits);
  return editsOf(edits.map((edit: unknown, at) => one(new Input(`${tool}, edits[${at}]`, edit, SINGLE))));
}

function one(input: Input): NativeEdit {
  return {
    oldString: input.text("old_string"),
    newString: input.text("new_string"),
    replaceAll: input.flag("replace_all"),
  };
}

function said({ written, replacements, firstChangedLine, diff, diffTruncated }: NativeEdited): string {
  const places = replacements === 1 ? "1 place" : `${replacements} places, the first`;
  const cut = diffTruncated ? "\n(the diff is longer than this)" : "";
  return `Edited ${written.path}: ${places} at line ${firstChangedLine}\n\n${diff.trimEnd()}${cut}`;
}
