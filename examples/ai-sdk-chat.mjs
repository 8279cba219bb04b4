// A chat on the AI SDK with a model that follows a script, so that it runs without a key: a user uploads a file, one tool writes
// an artifact, another returns far too much, and in the next turn the model reads back what it needs of it.
// `node examples/ai-sdk-chat.mjs [5|6|7]`: the SDK's version, by default 7. Prints what the model received. Ends with 1 if
// anything is not as it should be. In your app, `ai` is the SDK and `model` a real one; the rest stays.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { harnessToolContext, isToolResultFile, localHost, offloadInstructions } from "@little-stack/files";
import { loadSdk } from "./chat/sdk.mjs";
import { Checks } from "./demo/checks.mjs";

const version = Number(process.argv[2] ?? 7);
const { ai, scriptedModel } = await loadSdk(version);
const checks = new Checks();
const accounts = Array.from({ length: 5000 }, (_, id) => ({
  id,
  owner: `owner ${id}`,
  balance: (id * 7919) % 100_000,
}));

const place = await mkdtemp(join(tmpdir(), "little-files-chat-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
const host = localHost({ dataDir: join(place, "data") });
const session = await host.sessions.getOrCreate({ id: "chat-42" });

// ── The tools ──

const tools = {
  write_report: ai.tool({
    description: "Sums up a CSV file and writes a report for the user.",
    inputSchema: ai.jsonSchema({ type: "object", properties: { path: { type: "string" } }, required: ["path"] }),
    async execute({ path }, options) {
      const { files, extraBody } = harnessToolContext(options);
      const rows = (await files.read(path)).text().trim().split("\n").slice(1);
      const total = rows.reduce((sum, row) => sum + Number(row.split(",")[1]), 0);
      const text = `# Sales\n\n${rows.length} rows, ${total} in total, for ${extraBody.tenant}.\n`;
      return files.writeText("/artifacts/report.md", text, { artifact: { name: "Sales report" } });
    },
  }),
  query_accounts: ai.tool({
    description: "All accounts.",
    inputSchema: ai.jsonSchema({ type: "object", properties: {} }),
    execute: () => accounts, // 300 KB of JSON, which would fill the model's context
  }),
  read_file: {
    offload: false, // bounded by itself
    ...ai.tool({
      description: "Reads a part of a file: at most 2,000 bytes, from `offset` on.",
      inputSchema: ai.jsonSchema({
        type: "object",
        properties: { path: { type: "string" }, offset: { type: "number" } },
        required: ["path"],
      }),
      async execute({ path, offset = 0 }, options) {
        const { files } = harnessToolContext(options);
        const { content, bytes } = await files.read(path, { range: { start: offset, end: offset + 2000 } });
        return { bytes, text: new TextDecoder().decode(content) };
      },
    }),
  },
};

// ── The chat: what an app does for each message of its user ──

const system = `You help with accounts. ${offloadInstructions({ readTool: "read_file" })}`;
const transcript = []; // as the app stores it; files stay in it as they came

async function answer(message, model) {
  transcript.push(message);
  const { messages } = await session.stageMessages(transcript);
  const turn = await session.beginTurn({ extraBody: { tenant: "acme" } });
  try {
    const stopWhen = ai.stepCountIs(5);
    const result = await ai.generateText({ model, system, messages, stopWhen, tools: turn.tools(tools) });
    transcript.push(...responseMessages(result));
    return { result, ...(await turn.finish()) };
  } finally {
    await turn.abort(); // nothing, once it is finished
  }
}

/** The same as a stream. The turn ends by the callbacks; nothing here waits for that. */
async function stream(message, model, signal) {
  transcript.push(message);
  const { messages } = await session.stageMessages(transcript);
  const turn = await session.beginTurn({ extraBody: { tenant: "acme" }, signal }); // the signal of the request
  const stopWhen = ai.stepCountIs(5);
  const onFinish = (event) => transcript.push(...responseMessages(event));
  return ai.streamText({
    model,
    system,
    messages,
    stopWhen,
    tools: turn.tools(tools),
    abortSignal: signal,
    ...turn.callbacks({ onFinish }),
  });
}

/** AI SDK 7 has those of all steps under another name. */
function responseMessages(result) {
  return result.responseMessages ?? result.response.messages;
}

// ── First turn: an upload, an artifact, and a result that is far too large ──

const csv = "name,amount\nada,3\ngrace,39\n";
const upload = {
  role: "user",
  content: [
    { type: "text", text: "Write me a report of this, and list all accounts." },
    { type: "file", mediaType: "text/csv", filename: "sales de.csv", data: Buffer.from(csv) },
  ],
};
const first = scriptedModel([
  ({ text }) => ({ tool: "write_report", input: { path: /^- (\S+) \(/m.exec(text)?.[1] } }), // from the notice
  () => ({ tool: "query_accounts", input: {} }),
  () => ({ say: "The report is ready, and there are 5,000 accounts." }),
]);
const { result, files } = await answer(upload, first);
show("First turn", first);

const [report, offloaded] = result.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
const [prompt] = first.prompts;
checks.equal("files that the model got", prompt.files, 0);
checks.equal(
  "the notice",
  /\/session\/user-input\/m_[0-9a-f]{16}\/sales_de\.csv \(27 bytes, text\/csv\)/.test(prompt.text),
  true,
);
checks.equal("the upload", (await session.files.read(/\/session\/user-input\/\S+/.exec(prompt.text)[0])).text(), csv);
checks.equal(
  "the report",
  (await session.files.read(report.path)).text(),
  "# Sales\n\n2 rows, 42 in total, for acme.\n",
);
checks.equal("artifacts", (await session.artifacts.list()).map(({ name }) => name ?? "").join(), "Sales report,");
checks.equal("a reference in place of the accounts", isToolResultFile(offloaded), true);
checks.equal("its size in the model's context", first.prompts[2].largestResult <= 16_384, true);
checks.equal(
  "the whole result in its file",
  (await session.files.read(offloaded.path)).text(),
  JSON.stringify(accounts, null, 2),
);
checks.equal("files written in the turn", files.written.join(), `${report.path},${offloaded.path}`);
checks.equal("the upload in the transcript", transcript[0].content[1].data.equals(Buffer.from(csv)), true);

// ── Second turn: reads back what it needs ──

const wanted = accounts[4242];
const offset = Buffer.byteLength(JSON.stringify(accounts.slice(0, 4242), null, 2));
const second = scriptedModel([
  ({ text }) => ({
    tool: "read_file",
    input: { path: /"path":"(\/artifacts\/tool-results[^"]+)"/.exec(text)?.[1], offset },
  }),
  ({ text }) => ({
    say: `Its balance is ${/"id": 4242,[^}]*"balance": (\d+)/.exec(text.replaceAll("\\n", "").replaceAll('\\"', '"'))?.[1]}.`,
  }),
]);
const request = new AbortController();
const response = await stream(
  { role: "user", content: "What is the balance of account 4242?" },
  second,
  request.signal,
);
let said = "";
for await (const delta of response.textStream) said += delta;
show("Second turn, streamed", second);

checks.equal("what it says", said, `Its balance is ${wanted.balance}.`);
checks.equal("the notice is the same, so a prompt cache holds", second.prompts[0].text.startsWith(prompt.text), true);
const third = await session.beginTurn(); // at once: the streamed turn has ended
await third.finish();
const { stagedMessageIds, state } = await session.status();
checks.equal("staged messages", stagedMessageIds.length, 1);
checks.equal("state", state, "idle");

await host.close();
process.exitCode = checks.report();

function show(title, { prompts }) {
  console.log(`\n── ${title} (AI SDK ${version}) ──`);
  for (const [step, { added }] of prompts.entries()) console.log(`\nThe model received in step ${step + 1}:\n${added}`);
}
