// The file tools: a window deep in a huge log, a search through many files, an edit of a large file.
import { createHash, randomUUID } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileTools } from "@little-stack/files/tools";
import { compare, row } from "./harness.mjs";
import { ours, withSession } from "./peers.mjs";

const readline = "node:readline";
const ripgrep = "ripgrep";
const careful = "read, replace, write in node:fs";

export async function tools({ quick }) {
  const place = await mkdtemp(join(process.env.BENCH_DIR ?? tmpdir(), "little-files-tools-"));
  try {
    return await withSession(join(place, "data"), {}, async (session) => {
      const turn = await session.beginTurn();
      const { read, grep, edit } = turn.tools(fileTools());
      const call = (tool, input) => tool.execute(input, { toolCallId: "bench", messages: [] });
      const { session: root } = session.hostPaths();
      const rows = [
        ...(await deepWindow({ quick, root, read: (input) => call(read, input) })),
        ...(await search({ quick, root, grep: (input) => call(grep, input) })),
        ...(await largeEdit({ quick, root, read: (input) => call(read, input), edit: (input) => call(edit, input) })),
      ];
      await turn.finish();
      return rows;
    });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The log is written once; nobody changes it. */
async function deepWindow({ quick, root, read }) {
  const line = quick ? 100_000 : 5_000_000;
  const file = join(root, "huge.log");
  const bytes = await writeLog(file, line + line / 20);
  const offset = line;
  const title = `20 lines at line ${line.toLocaleString("en")} of ${(bytes / 1e9).toFixed(2)} GB`;
  const results = await compare(
    title,
    {
      [ours]: () => watched(() => read({ file_path: "/session/huge.log", offset, limit: 20 })),
      [readline]: () => watched(() => linesFrom(file, offset, 20)),
    },
    { rounds: quick ? 2 : 3 },
  );
  await rm(file);
  return [row(title, results, "time", "ms"), row("… memory above that before", results, "memory", "MB")];
}

async function writeLog(file, lines) {
  const handle = await open(file, "w");
  const filler = "x".repeat(180);
  let bytes = 0;
  for (let from = 1; from <= lines; from += 10_000) {
    let text = "";
    for (let at = from; at < from + 10_000; at++) text += `${at} INFO ${filler}\n`;
    bytes += (await handle.write(text)).bytesWritten;
  }
  await handle.close();
  return bytes;
}

async function linesFrom(file, offset, limit) {
  const found = [];
  let at = 0;
  const input = createReadStream(file, { highWaterMark: 1024 * 1024 });
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    at++;
    if (at >= offset) found.push(line);
    if (found.length === limit) break;
  }
  input.destroy();
  return found.join("\n");
}

/** Time, and the most memory of the process above what it had before. */
async function watched(work) {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  clearInterval(timer);
  most = Math.max(most, process.memoryUsage.rss());
  return { time, memory: Math.max(0.1, (most - before) / 1e6) };
}

async function search({ quick, root, grep }) {
  const count = quick ? 1_000 : 10_000;
  await writeSources(join(root, "sources"), count);
  const title = `grep over ${count.toLocaleString("en")} files`;
  const contenders = { [ours]: () => timed(() => grep({ pattern: "needle_[0-9]+", path: "/session/sources" })) };
  const installed = spawnSync("rg", ["--version"]).status === 0;
  if (installed)
    contenders[ripgrep] = () =>
      timed(() => run("rg", ["-n", "--no-ignore", "--hidden", "needle_[0-9]+"], join(root, "sources")));
  else console.error(`${title}: ripgrep is not installed, so there is nothing to compare with`);
  const results = await compare(title, contenders, { rounds: quick ? 2 : 5 });
  await rm(join(root, "sources"), { recursive: true });
  return [row(title, results, "time", "ms")];
}

async function writeSources(folder, count) {
  const text = "const value = compute(left, right); // a line of a source file\n".repeat(80);
  for (let from = 0; from < count; from += 100) {
    const part = join(folder, String(from / 100));
    await mkdir(part, { recursive: true });
    const names = Array.from({ length: 100 }, (_, n) => from + n);
    await Promise.all(
      names.map((at) => writeFile(join(part, `${at}.ts`), at % 50 === 0 ? `${text}needle_${at}\n` : text)),
    );
  }
}

function run(program, args, cwd) {
  return new Promise((resolve, reject) => {
    spawn(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] })
      .on("error", reject)
      .on("close", resolve);
  });
}

async function largeEdit({ quick, root, read, edit }) {
  const lines = quick ? 10_000 : 185_000;
  const text = Array.from({ length: lines }, (_, at) => `line ${at} of a file that somebody edits, é and all`).join(
    "\n",
  );
  const old_string = `line ${lines >> 1} of a file`;
  const title = `edit of a ${(Buffer.byteLength(text) / 1e6).toFixed(0)} MB file, guarded`;
  const results = await compare(
    title,
    {
      [ours]: async () => {
        const file = join(root, `${randomUUID()}.txt`);
        await writeFile(file, text);
        const file_path = file.replace(root, "/session");
        await read({ file_path, limit: 1 });
        const result = await timed(() => edit({ file_path, old_string, new_string: "changed" }));
        await rm(file);
        return result;
      },
      [careful]: async (folder) => {
        const file = join(folder, "a.txt");
        await writeFile(file, text);
        const seen = sha256(await readFile(file));
        return timed(() => carefulEdit(file, seen, old_string, "changed"));
      },
    },
    { rounds: quick ? 2 : 9 },
  );
  return [row(title, results, "time", "ms")];
}

/** The same promises as far as one process can give them: still what was seen, text, unique, whole, and its new hash. */
async function carefulEdit(file, seen, before, after) {
  const bytes = await readFile(file);
  if (sha256(bytes) !== seen) throw new Error("stale");
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const at = text.indexOf(before);
  if (at < 0 || text.indexOf(before, at + 1) >= 0) throw new Error("not there once");
  const edited = Buffer.from(text.slice(0, at) + after + text.slice(at + before.length));
  const { mode } = await stat(file);
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, edited, { mode });
  await rename(temporary, file);
  return sha256(edited);
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

async function timed(work) {
  const start = performance.now();
  await work();
  return { time: performance.now() - start };
}
