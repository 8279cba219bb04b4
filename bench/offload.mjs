// Large results: what it takes to store 50 MB of text with its counts and reference, to sketch 50 MB of JSON, and what a
// result under the limit costs.
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { offloadToolResult } from "@little-stack/files";
import { compare, row } from "./harness.mjs";
import { ours, withSession } from "./peers.mjs";
import { probed } from "./probe.mjs";

const plain = "plain JavaScript";
const bare = "the bare tool";

export async function offload({ quick }) {
  const megabytes = quick ? 5 : 50;
  const rounds = quick ? 2 : 5;
  const rows = [];

  const line = "2026-12-01T00:00:00Z info request served in 12 ms — naïve café 🦀\n";
  const text = line.repeat((megabytes * 1e6) / Buffer.byteLength(line));
  const stored = await compare(
    `a result of ${megabytes} MB of text: store, count, refer`,
    {
      [ours]: (folder) => withSession(folder, {}, (session) => probed(() => store(session, text))),
      [plain]: (folder) =>
        probed(async () => {
          if (Buffer.byteLength(text) <= 16_384) return undefined;
          const characters = [...text].length;
          const lines = text.split(/\r\n|\r|\n/).length - 1;
          const sha256 = createHash("sha256").update(text).digest("hex");
          await writeFile(join(folder, "result.txt"), text);
          return { characters, lines, sha256, preview: text.slice(0, 512) };
        }),
    },
    { rounds },
  );
  rows.push(row(`a result of ${megabytes} MB of text: store, count, refer`, stored, "time", "ms"));
  rows.push(row("… longest stall of the event loop", stored, "stall", "ms"));

  const record = (id) => ({
    id,
    name: `customer ${id}`,
    tags: ["a", "b"],
    address: { city: "Zürich", zip: id % 9_999 },
  });
  const json = JSON.stringify(Array.from({ length: megabytes * 11_000 }, (_, id) => record(id)));
  const sketched = await compare(
    `${Math.round(json.length / 1e6)} MB of JSON text: sketch and count (ours also stores it)`,
    {
      [ours]: (folder) => withSession(folder, {}, (session) => probed(() => store(session, json))),
      [plain]: () => probed(() => walk(JSON.parse(json), { values: 0 })),
    },
    { rounds },
  );
  rows.push(
    row(
      `${Math.round(json.length / 1e6)} MB of JSON text: sketch and count (ours also stores it)`,
      sketched,
      "time",
      "ms",
    ),
  );

  const calls = quick ? 500 : 5_000;
  const tool = { execute: async ({ n }) => ({ n, answer: "x".repeat(2_000) }) };
  const small = await compare(
    "a result of 2 KB, under the limit",
    {
      [ours]: (folder) =>
        withSession(folder, {}, async (session) => {
          const turn = await session.beginTurn();
          const time = await each(calls, turn.tools({ tool }).tool);
          await turn.finish();
          return { time };
        }),
      [bare]: async () => ({ time: await each(calls, tool) }),
    },
    { rounds },
  );
  rows.push(row("a result of 2 KB, under the limit, a call", small, "time", "µs"));
  return rows;
}

let serial = 0;

async function store(session, result) {
  const reference = await offloadToolResult(
    session.files,
    { toolName: "bench", toolCallId: `call_${(serial += 1)}`, input: {} },
    result,
  );
  if (reference?.type !== "harness.tool_result_file") throw new Error("It was not stored.");
}

/** As a sketch is made from a parsed value: every value is looked at once. */
function walk(value, seen) {
  seen.values += 1;
  if (Array.isArray(value)) for (const item of value) walk(item, seen);
  else if (typeof value === "object" && value !== null) for (const key of Object.keys(value)) walk(value[key], seen);
}

async function each(calls, tool) {
  const start = performance.now();
  for (let n = 0; n < calls; n += 1) await tool.execute({ n }, { toolCallId: `call_${n}`, messages: [] });
  return ((performance.now() - start) * 1_000) / calls;
}
