// AI SDK 5, 6 or 7, each under a name of its own here, and a model that follows a script.

export async function loadSdk(version) {
  if (![5, 6, 7].includes(version)) {
    console.error("Say which version of the AI SDK: 5, 6 or 7.");
    process.exit(1);
  }
  const [ai, mocks] = await Promise.all([import(`ai${version}`), import(`ai${version}/test`)]);
  const Model = mocks[`MockLanguageModelV${version - 3}`];
  return { ai, scriptedModel: (script) => scriptedModel(Model, version, script) };
}

/** Each line of the script looks at what the model was given and says what it does: `{ tool, input }` or `{ say }`. */
function scriptedModel(Model, version, script) {
  const prompts = [];
  const usage =
    version === 5
      ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      : { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const reason = (unified) => (version === 5 ? unified : { unified, raw: unified });

  function next({ prompt }) {
    const seen = described(prompt, prompts.at(-1)?.length ?? 0);
    prompts.push({ ...seen, length: prompt.length });
    const { tool, input, say } = script[prompts.length - 1](seen);
    if (say !== undefined) return { content: { type: "text", text: say }, finishReason: reason("stop") };
    const call = {
      type: "tool-call",
      toolCallId: `call_${prompts.length}`,
      toolName: tool,
      input: JSON.stringify(input),
    };
    return { content: call, finishReason: reason("tool-calls") };
  }

  const model = new Model({
    async doGenerate(options) {
      const { content, finishReason } = next(options);
      return { content: [content], finishReason, usage, warnings: [] };
    },
    async doStream(options) {
      const { content, finishReason } = next(options);
      const { type, text } = content;
      const deltas =
        type === "text"
          ? [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: text },
              { type: "text-end", id: "1" },
            ]
          : [content];
      return {
        stream: streamOf([{ type: "stream-start", warnings: [] }, ...deltas, { type: "finish", finishReason, usage }]),
      };
    },
  });
  return Object.assign(model, { prompts });
}

function streamOf(parts) {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** All text of a prompt, what is new in it, how many files are in it, and the size of its largest tool result. */
function described(prompt, known) {
  const lines = prompt.map(({ role, content }) =>
    typeof content === "string" ? [`${role}: ${content}`] : content.map((part) => `${role}: ${textOf(part)}`),
  );
  const results = prompt.flatMap(({ role, content }) =>
    role === "tool" ? content.map((part) => textOf(part).length) : [],
  );
  const files = prompt.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter(({ type }) => type === "file"),
  );
  const added = lines.slice(known).flat().map(shortened);
  return {
    text: lines.flat().join("\n"),
    added: added.join("\n"),
    files: files.length,
    largestResult: Math.max(0, ...results),
  };
}

function textOf({ type, text, toolName, input, output }) {
  if (type === "text") return text;
  if (type === "tool-call") return `calls ${toolName}(${JSON.stringify(input)})`;
  return type === "tool-result" ? JSON.stringify(output.value) : `[${type}]`;
}

function shortened(line) {
  return line.length > 700 ? `${line.slice(0, 700)}… (${line.length.toLocaleString("en")} characters)` : line;
}
