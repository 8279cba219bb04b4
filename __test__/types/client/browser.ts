// The entry "./client" in a browser project: no Node types anywhere.
import {
  type JsonSketch,
  type ToolResultFile,
  isToolResultFile,
  toolResultFileSchema,
} from "@little-stack/files/client";

export function show(output: unknown): string {
  if (!isToolResultFile(output)) return "inline";
  const file: ToolResultFile = output;
  const { summary, toolCallId } = file;
  return `${file.path} ${file.bytes} ${summary.format} ${summary.lines ?? 0} ${toolCallId ?? ""} ${sketch(summary.structure)}`;
}

function sketch(structure: JsonSketch | undefined): string {
  if (structure === undefined) return "";
  switch (structure.type) {
    case "array":
      return `${structure.length} of ${sketch(structure.items)}`;
    case "object":
      return Object.entries(structure.keys ?? {})
        .map(([key, value]) => `${key}: ${sketch(value)}`)
        .join();
    case "union":
      return structure.variants.map(sketch).join(" | ");
    default:
      return structure.type;
  }
}

document.title = show(5);
export const schema: Readonly<Record<string, unknown>> = toolResultFileSchema;

// @ts-expect-error there is no Node here
export type None = Buffer;
// @ts-expect-error the schema is not to be changed
toolResultFileSchema["type"] = 5;
