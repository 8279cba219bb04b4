// The file tools are tools of AI SDK 5, 6 and 7, wrapped or not, beside the developer's own.
import type { Turn } from "@little-stack/files";
import { fileTools } from "@little-stack/files/tools";
import { type LanguageModel, type ToolSet, generateText, streamText, tool } from "ai";
import { z } from "zod";

export async function files(turn: Turn, model: LanguageModel): Promise<string> {
  const mine = { add: tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) };
  const tools = turn.tools({ ...fileTools({ names: { read: "read_file" } }), ...mine });
  const set: ToolSet = tools;
  void set;
  const { text, toolResults } = await generateText({ model, tools, prompt: "go" });
  for (const result of toolResults) if (result.toolName === "add" && !result.dynamic) result.output.toFixed();
  await streamText({ model, tools: turn.tools(fileTools()), prompt: "go" }).text;
  return text;
}
