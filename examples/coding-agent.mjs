// A coding agent on the file tools, with a model that follows a script, so that it runs without a key. The model knows no
// better: it overwrites a file that it has not seen, edits one that changed meanwhile, and looks for one line in a log of two
// million. Each time the tool refuses, or shows a part, and says how to go on; the model does that.
// `node examples/coding-agent.mjs [5|6|7]`: the AI SDK's version, by default 7. Prints each refusal. Ends with 1 if anything is
// not as it should be. In your app, `ai` is the SDK and `model` a real one; the rest stays.
import { appendFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localHost } from "@little-stack/files";
import { fileTools } from "@little-stack/files/tools";
import { loadSdk } from "./chat/sdk.mjs";
import { Checks } from "./demo/checks.mjs";

const LINES = 2_000_000;
const WANTED = 1_234_567;

const version = Number(process.argv[2] ?? 7);
const { ai, scriptedModel } = await loadSdk(version);
const checks = new Checks();
const place = await mkdtemp(join(tmpdir(), "little-files-agent-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
const host = localHost({ dataDir: join(place, "data") });
const session = await host.sessions.getOrCreate({ id: "agent" });

// ── What is there: a setting that somebody chose with care, and a log ──

const config = "/session/app/config.ini";
await session.files.writeText(config, "# chosen with care\nport = 8080\nworkers = 4\n");
await session.files.write("/session/app/server.log", log());

async function* log() {
  for (let from = 0; from < LINES; from += 10_000) {
    let text = "";
    for (let at = from + 1; at <= from + 10_000; at++) {
      text += at === WANTED ? `${at} ERROR port 8080 is taken\n` : `${at} INFO request served in ${at % 97} ms\n`;
    }
    yield text;
  }
}

/** Another program: a shell, or a person with an editor. */
function somebodyElse() {
  appendFileSync(join(session.hostPaths().session, "app/config.ini"), "tls = on\n");
}

// ── The agent ──

const plan = (...statuses) => ({
  todos: ["find out why it does not start", "move it to another port", "leave the rest as it is"].map(
    (content, at) => ({
      content,
      status: statuses[at],
    }),
  ),
});
const script = [
  () => ({ tool: "todo_write", input: plan("in_progress", "pending", "pending") }),
  () => ({ tool: "read_file", input: { file_path: "/session/app/server.log" } }), // the first 2,000 lines of two million
  ({ text }) => ({ tool: "read_file", input: { file_path: "/session/app/server.log", offset: nextOffset(text) } }),
  () => ({ tool: "grep", input: { pattern: "ERROR", path: "/session/app" } }), // that is quicker
  ({ text }) => ({
    tool: "read_file",
    input: { file_path: "/session/app/server.log", offset: Number(/(\d+):\d+ ERROR/.exec(text)[1]) - 1, limit: 3 },
  }),
  () => ({ tool: "todo_write", input: plan("completed", "in_progress", "pending") }),
  () => ({ tool: "write", input: { file_path: config, content: "port = 9090\n" } }), // unseen: refused
  () => ({ tool: "read_file", input: { file_path: config } }),
  () => {
    somebodyElse();
    return { tool: "edit", input: { file_path: config, old_string: "port = 8080", new_string: "port = 9090" } }; // stale: refused
  },
  () => ({ tool: "read_file", input: { file_path: config } }),
  () => ({ tool: "edit", input: { file_path: config, old_string: "port: 8080", new_string: "port: 9090" } }), // not there: refused
  () => ({ tool: "edit", input: { file_path: config, old_string: "port = 8080", new_string: "port = 9090" } }),
  () => ({ tool: "todo_write", input: plan("completed", "completed", "completed") }),
  () => ({ say: "The port was taken. It listens on 9090 now; all else is as it was." }),
];

function nextOffset(text) {
  return Number([...text.matchAll(/continue with offset: (\d+)/g)].at(-1)[1]);
}

const model = scriptedModel(script);
const tools = fileTools({ names: { read: "read_file" } });
const turn = await session.beginTurn();
const { text } = await ai.generateText({
  model,
  prompt: "The app does not start. Find out why, and repair it.",
  tools: turn.tools(tools),
  stopWhen: ai.stepCountIs(script.length),
});
const { files } = await turn.finish();

// ── What came of it ──

const refusals = model.prompts.flatMap(({ added }) => added.split("\n").filter((line) => /\[FS_\w+\]/.test(line)));
for (const refusal of refusals) console.log(`refused: ${/\[FS_.*/.exec(refusal)[0].replace(/"$/, "")}\n`);
console.log(`${text}\n`);

const codes = refusals.map((refusal) => /\[(FS_\w+)\]/.exec(refusal)[1]);
const expected = ["FS_NOT_OBSERVED", "FS_STALE_VERSION", "FS_EDIT_NOT_FOUND"];
checks.equal("refusals", codes.join(), expected.join());
checks.equal(
  "every one says the next step",
  refusals.every((refusal) => /[Rr]ead/.test(refusal.split("] ")[1])),
  true,
);
checks.equal(
  "the setting",
  (await session.files.read(config)).text(),
  "# chosen with care\nport = 9090\nworkers = 4\ntls = on\n",
);
checks.equal(
  "the pages of the log",
  model.prompts.every(({ largestResult }) => largestResult <= 55_000),
  true,
);
checks.equal(
  "the line that was looked for",
  model.prompts.at(-1).text.includes(`${WANTED} ERROR port 8080 is taken`),
  true,
);
const planned = (await session.files.read("/session/plans/agent.md")).text();
console.log(planned);
checks.equal("the plan", (planned.match(/^- \[x\] /gm) ?? []).length, 3);
checks.equal("edited", files.edited.join(), config);
await host.close();
process.exitCode = checks.report();
