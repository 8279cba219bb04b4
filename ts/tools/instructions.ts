// What a system prompt may say of results that went to files.
import type { OffloadOptions } from "../../index.js";
import * as check from "../check.js";
import { DEFAULTS, offloadSettings } from "./offload-options.js";

const MAX_TOOL_NAME_LENGTH = 200;

export function offloadInstructions(options?: OffloadOptions & { readTool?: string }): string {
  const { maxInlineBytes, previewBytes, outputDir } = offloadSettings(options, DEFAULTS);
  const readTool = check.readOptions(options, (given) => check.label(given, "readTool", MAX_TOOL_NAME_LENGTH));
  const read =
    readTool === undefined ? "" : ` Use the tool \`${readTool}\` with that path to read the parts that you need.`;
  return [
    `A tool result of more than ${number(maxInlineBytes)} bytes is stored in a file under ${outputDir}.`,
    'In its place you get an object of type "harness.tool_result_file":',
    `\`path\` names the file, which holds the whole result; \`summary\` tells its format, size and structure; \`preview\` is its beginning, at most ${number(previewBytes)} bytes.`,
    `Nothing is lost, so do not call the tool again to see more.${read}`,
  ].join(" ");
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
