// AI SDK 5 and 6 hand on `experimental_context`.
import type { Turn } from "@little-stack/files";
import { generateText, type LanguageModel } from "ai";

export async function older(turn: Turn, model: LanguageModel): Promise<string> {
  const { text } = await generateText({ model, prompt: "go", experimental_context: { ...turn.context, mine: 1 } });
  return text;
}
