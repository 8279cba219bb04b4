// The three versions of the AI SDK behind one face: a model that plays a script and remembers what it was sent.
import * as ai5 from "ai5";
import { MockLanguageModelV2 } from "ai5/test";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai7";
import { MockLanguageModelV4 } from "ai7/test";

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
const newUsage = { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const newReason = (reason) => ({ unified: reason, raw: reason });

export const versions = [
  {
    name: "AI SDK 5",
    major: 5,
    sdk: ai5,
    Model: MockLanguageModelV2,
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    reason: (reason) => reason,
  },
  { name: "AI SDK 6", major: 6, sdk: ai6, Model: MockLanguageModelV3, usage: newUsage, reason: newReason },
  { name: "AI SDK 7", major: 7, sdk: ai7, Model: MockLanguageModelV4, usage: newUsage, reason: newReason },
];

/**
 * Plays one step of the script for each call. A step is a list of: a string (text), `{ call: [id, tool, input] }`,
 * `{ error }` (thrown by `generate`, a part of the stream), `{ wait: promise }` (before the next part of a stream).
 * `sent` holds the prompt of each call.
 */
export function scripted({ Model, usage, reason }, script) {
  const steps = [...script];
  const sent = [];
  const next = (prompt) => {
    sent.push(prompt);
    const step = steps.shift();
    if (step === undefined) throw new Error("the script is over");
    return { step, finishReason: reason(step.some((part) => part.call) ? "tool-calls" : "stop") };
  };
  const model = new Model({
    async doGenerate({ prompt }) {
      const { step, finishReason } = next(prompt);
      const failed = step.find((part) => part.error);
      if (failed) throw failed.error;
      const content = step.map((part) => (typeof part === "string" ? { type: "text", text: part } : toolCall(part)));
      return { content, finishReason, usage, warnings: [] };
    },
    async doStream({ prompt, abortSignal }) {
      const { step, finishReason } = next(prompt);
      const parts = [
        { type: "stream-start", warnings: [] },
        ...step.flatMap(streamed),
        { type: "finish", finishReason, usage },
      ];
      return { stream: streamOf(parts, abortSignal) };
    },
  });
  return { model, sent };
}

const toolCall = ({ call: [toolCallId, toolName, input] }) => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
});

function streamed(part, index) {
  const id = `text-${index}`;
  if (typeof part === "string") {
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: part },
      { type: "text-end", id },
    ];
  }
  if (part.error) return [{ type: "error", error: part.error }];
  return part.wait ? [part] : [toolCall(part)];
}

/** Given out as it is pulled; a wait ends with the signal. */
function streamOf(parts, signal) {
  const left = [...parts];
  return new ReadableStream(
    {
      async pull(controller) {
        const part = left.shift();
        if (part === undefined) controller.close();
        else if (part.wait === undefined) controller.enqueue(part);
        else {
          const aborted = new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
          try {
            await Promise.race([part.wait, aborted]);
            await this.pull(controller);
          } catch (error) {
            controller.error(error);
          }
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/** The outputs of tools that a prompt holds, by the id of their call. */
export function toolOutputs(prompt) {
  const results = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
  return Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output]));
}

/** Runs until the script is over. */
export const untilDone = (version) => ({ stopWhen: version.sdk.stepCountIs(8), maxRetries: 0 });
