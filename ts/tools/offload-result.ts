// `offloadToolResult`: the same outside of a tool call.
import type { FileWriter, OffloadOptions, ToolCall, ToolResultFile } from "../../index.js";
import * as check from "../check.js";
import { HarnessFileError, toFileError } from "../errors.js";
import { behind } from "../file-writer.js";
import { Offload } from "./offload.js";
import { DEFAULTS, offloadSettings } from "./offload-options.js";

export async function offloadToolResult(
  files: FileWriter,
  call: ToolCall,
  result: unknown,
  options?: OffloadOptions,
): Promise<ToolResultFile | undefined> {
  try {
    const ours = behind(files);
    if (ours === undefined) {
      throw new HarnessFileError(
        "FS_INVALID_OPTION",
        "files must be a FileWriter of this package: session.files, turn.files or ctx.files",
      );
    }
    const settings = offloadSettings(options, ours.core.offload || DEFAULTS);
    const named = check.readOptions(call, nameOfCall);
    return await new Offload(ours.core, ours.writer, settings).reference({ ...call, ...named }, result);
  } catch (error) {
    throw toFileError(error);
  }
}

function nameOfCall({ toolName, toolCallId }: check.Options): Pick<ToolCall, "toolName" | "toolCallId"> {
  if (typeof toolName !== "string") throw check.invalidOption("toolName", "a string", toolName);
  if (toolCallId === undefined) return { toolName };
  if (typeof toolCallId !== "string") throw check.invalidOption("toolCallId", "a string", toolCallId);
  return { toolName, toolCallId };
}
