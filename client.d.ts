// The entry "@little-stack/files/client": for code that also runs in a browser. It loads no addon and needs no Node types.
// Kept by hand; the compiler checks ts/client.ts against it.

/** What stands in place of a tool result that was too large and went to a file. At most `maxInlineBytes` of JSON. */
export interface ToolResultFile {
  type: "harness.tool_result_file";
  /** Cut when it is very long. */
  toolName: string;
  /** Left out when it is very long. */
  toolCallId?: string;
  /** Where the whole result is. */
  path: string;
  bytes: number;
  sha256: string;
  mediaType: string;
  truncated: true;
  summary: {
    format: "text" | "json" | "ndjson" | "binary";
    /** Code points. */
    characters?: number;
    /** A line ends at LF, CR or CRLF; a line end at the very end adds none. */
    lines?: number;
    structure?: JsonSketch;
  };
  /** How it begins. */
  preview: string;
  /** In words, for the model. */
  message: string;
}

/** The structure of a JSON text, bounded: 4 levels, 12 keys an object, 3 items an array. */
export type JsonSketch =
  | { type: "string" | "number" | "boolean" | "null"; optional?: true }
  | { type: "array"; length: number; items?: JsonSketch; sampled?: number; truncated?: true; optional?: true }
  | { type: "object"; keys?: Record<string, JsonSketch>; truncatedKeys?: number; truncated?: true; optional?: true }
  | { type: "union"; variants: JsonSketch[]; optional?: true };

/** Whether a tool's output, also one that was stored and loaded again, is a reference to a file. */
export function isToolResultFile(value: unknown): value is ToolResultFile;

/** JSON Schema of `ToolResultFile`, for a union in a tool's `outputSchema`. Frozen. */
export const toolResultFileSchema: Readonly<Record<string, unknown>>;
