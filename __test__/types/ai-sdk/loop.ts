// AI SDK 5, 6 and 7, one a tsconfig: wrapping changes no type, and `extraBody` is typed from the host to the tool.
import {
  harnessToolContext,
  isToolResultFile,
  localHost,
  type HarnessToolContext,
  type ToolHook,
} from "@little-stack/files";
import {
  dynamicTool,
  generateText,
  streamText,
  tool,
  type LanguageModel,
  type TypedToolCall,
  type TypedToolResult,
} from "ai";
import { z } from "zod";
import { same } from "../expect.js";

declare const model: LanguageModel;

interface RequestContext {
  userId: string;
}

const queryAccounts = tool({
  description: "Query account rows visible to the current user.",
  inputSchema: z.object({ query: z.string() }),
  execute: async (input, options) => {
    const ctx = harnessToolContext<RequestContext>(options);
    same<typeof ctx, HarnessToolContext<RequestContext>>();
    same<typeof ctx.extraBody, RequestContext | undefined>();
    const file = await ctx.files.writeJSON("/artifacts/tool/query-accounts/result.json", [
      input.query,
      ctx.extraBody?.userId,
    ]);
    return { preview: "rows", path: file.path, bytes: file.bytes };
  },
});
const watch = tool({
  inputSchema: z.object({ seconds: z.number() }),
  async *execute({ seconds }) {
    yield { seconds };
  },
});
const ask = tool({ inputSchema: z.object({ question: z.string() }), outputSchema: z.string() });
const any = dynamicTool({ inputSchema: z.object({}), execute: async () => 5 });
const bare = { queryAccounts, watch, ask, any, exempt: { ...queryAccounts, offload: false as const } };

export async function main(): Promise<void> {
  await using host = localHost<RequestContext>({ offload: { maxInlineBytes: 2048 }, concurrentTurns: "reject" });
  const session = await host.sessions.getOrCreate({ id: "a", extraBody: { userId: "u" } });
  // @ts-expect-error the host says what extraBody is
  await host.sessions.getOrCreate({ id: "a", extraBody: { user: "u" } });
  // @ts-expect-error
  await session.beginTurn({ extraBody: 5 });
  await using turn = await session.beginTurn({
    extraBody: { userId: "u" },
    signal: AbortSignal.timeout(5),
    metadata: { a: 1 },
  });
  same<typeof turn.context.extraBody, RequestContext | undefined>();

  const hook: ToolHook = {
    before: ({ toolName, input }, ctx) => (toolName === "watch" ? { block: "no" } : { input: [input, ctx.turnId] }),
    after: (_call, result) => result,
  };
  const tools = turn.tools(bare, {
    hooks: [hook, { before() {} }, { before: async () => {} }],
    offload: { only: () => true },
  });
  same<typeof tools, typeof bare>();
  // @ts-expect-error a hook gives nothing, a block or an input
  turn.tools(bare, { hooks: [{ before: () => true }] });
  // @ts-expect-error no number is a tool
  turn.tools({ a: 5 });
  same<ReturnType<typeof turn.context.tools<typeof bare>>, typeof bare>();

  const result = await generateText({ model, tools, prompt: "go" });
  const [call] = result.toolCalls;
  same<typeof call, TypedToolCall<typeof bare>>();
  const [output] = result.toolResults;
  same<typeof output, TypedToolResult<typeof bare>>();
  if (output.toolName === "queryAccounts" && !output.dynamic) {
    same<typeof output.input, { query: string }>();
    const value: unknown = output.output;
    if (isToolResultFile(value)) same<typeof value.path, string>();
    else same<typeof output.output, { preview: string; path: string; bytes: number }>();
  }

  const stream = streamText({ model, tools, prompt: "go", ...turn.callbacks({ onFinish: (event) => event.text }) });
  await stream.text;
  const tracked = await turn.track(async () => 5, { source: "shell" });
  same<typeof tracked.result, number>();
  same<(typeof tracked.changes)[number]["change"], "created" | "updated" | "deleted">();
  const finished = await turn.finish({ signal: AbortSignal.timeout(5) });
  same<typeof finished.files.read, string[]>();
  const inside = turn.run(() => generateText({ model, tools, prompt: "go" }));
  same<Awaited<typeof inside>["text"], string>();
}
