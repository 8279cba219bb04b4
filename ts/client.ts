// The entry "./client": what a browser needs to show results that went to files. Imports nothing.
import type { ToolResultFile } from "../client.js";

const TYPE = "harness.tool_result_file";

export function isToolResultFile(value: unknown): value is ToolResultFile {
  if (typeof value !== "object" || value === null) return false;
  const { type, toolName, path, bytes, sha256, mediaType, truncated, summary, preview, message } =
    value as Partial<ToolResultFile>;
  return (
    type === TYPE &&
    truncated === true &&
    [toolName, path, sha256, mediaType, preview, message].every((text) => typeof text === "string") &&
    typeof bytes === "number" &&
    typeof summary === "object" &&
    summary !== null &&
    typeof summary.format === "string"
  );
}

const string = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;

/** `structure` is not described further: it is for people and models to read. */
const summarySchema = {
  type: "object",
  properties: {
    format: { enum: ["text", "json", "ndjson", "binary"] },
    characters: count,
    lines: count,
    structure: { type: "object" },
  },
  required: ["format"],
  additionalProperties: false,
} as const;

export const toolResultFileSchema: Readonly<Record<string, unknown>> = deepFrozen({
  type: "object",
  properties: {
    type: { const: TYPE },
    toolName: string,
    toolCallId: string,
    path: string,
    bytes: count,
    sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
    mediaType: string,
    truncated: { const: true },
    summary: summarySchema,
    preview: string,
    message: string,
  },
  required: ["type", "toolName", "path", "bytes", "sha256", "mediaType", "truncated", "summary", "preview", "message"],
  additionalProperties: false,
});

function deepFrozen<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === "object" && inner !== null) deepFrozen(inner as object);
  return Object.freeze(value);
}

type Contract = typeof import("../client.js");
type Implementation = typeof import("./client.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
