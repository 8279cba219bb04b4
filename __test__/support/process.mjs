// Programs of their own: started, listened to, stopped, killed. What they print on standard output is read by line.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { after, tempDir } from "./host.mjs";

const children = new URL("../children/", import.meta.url);

/** Starts `children/<name>.mjs`; it is killed at the end of the test at the latest. */
export function startChild(t, name, args = [], options = {}) {
  const program = fileURLToPath(new URL(`${name}.mjs`, children));
  return startProgram(t, process.execPath, [...(options.execArgv ?? []), program, ...args.map(String)], options);
}

/** Gives { pid, ended, line(start), send(text), kill(signal) }; `ended` gives { code, signal, stdout, stderr } and never rejects. */
export function startProgram(t, command, args, { env, cwd } = {}) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], cwd, env: { ...process.env, ...env } });
  const out = { stdout: "", stderr: "", done: false };
  const waiting = new Set();
  const look = () => {
    for (const each of waiting) each();
  };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out.stdout += text;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    out.stderr += text;
  });
  child.stdin.on("error", () => {});
  const ended = new Promise((resolve) => {
    const end = (code, signal) => {
      out.done = true;
      look();
      resolve({ code, signal, stdout: out.stdout, stderr: out.stderr });
    };
    child.on("error", (error) => {
      out.stderr += String(error);
      end(null, null);
    });
    child.on("close", end);
  });
  const kill = (signal = "SIGKILL") => child.kill(signal);
  after(t, async () => {
    if (!out.done) kill();
    await ended;
  });
  /** The first line of standard output that starts so, as soon as it is there; rejects when the program ends without it. */
  const line = (start) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = out.stdout
          .split("\n")
          .slice(0, -1)
          .find((each) => each.startsWith(start));
        if (found === undefined && !out.done) return;
        waiting.delete(check);
        if (found !== undefined) resolve(found);
        else reject(new Error(`the program ended before it said "${start}": ${out.stdout}${out.stderr}`));
      };
      waiting.add(check);
      check();
    });
  return { pid: child.pid, ended, line, kill, send: (text) => child.stdin.write(`${text}\n`), out };
}

/** Runs to the end, at most `limit` ms; one that hangs is killed and shows `signal: "SIGKILL"`. */
export async function runChild(t, name, args = [], { limit = 60_000, ...options } = {}) {
  const child = startChild(t, name, args, options);
  const timer = setTimeout(() => child.kill(), limit);
  const end = await child.ended;
  clearTimeout(timer);
  return end;
}

/** The last line of standard output, as JSON. */
export function lastJson({ code, signal, stdout, stderr }) {
  const text = stdout.trimEnd().split("\n").at(-1);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`no result from the program (code ${code}, signal ${signal}): ${stdout}${stderr}`);
  }
}

export const has = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/**
 * Another program that holds the flock on this file (made if it is missing) or folder until it is killed; `SIGSTOP`
 * makes it one that hangs. Undefined, and the test skipped, where util-linux' flock is not installed.
 */
export async function holdLock(t, file) {
  if (!has("flock")) {
    t.skip("flock (util-linux) is not installed");
    return undefined;
  }
  const redirect = fs.existsSync(file) && fs.statSync(file).isDirectory() ? "<" : ">>";
  const holder = startProgram(t, "sh", ["-c", `exec 9${redirect}"$1" && flock 9 && echo held && exec cat`, "sh", file]);
  await holder.line("held");
  return {
    ...holder,
    release: async () => {
      holder.kill("SIGKILL");
      await holder.ended;
    },
  };
}

/** A copy of the built package in a folder of its own, without the addon, or with a broken one. Gives the URL of its entry. */
export function copyPackage(t, { addon = "whole" } = {}) {
  const from = fileURLToPath(new URL("../../", import.meta.url));
  const to = path.join(tempDir(t), "copy");
  fs.mkdirSync(to);
  for (const name of fs.readdirSync(from)) {
    const isAddon = name.endsWith(".node");
    if (isAddon && addon === "broken") fs.writeFileSync(path.join(to, name), "this is no library");
    else if ((isAddon && addon === "whole") || /^(dist|package\.json|binding\.cjs|index\.d\.ts)$/.test(name))
      fs.cpSync(path.join(from, name), path.join(to, name), { recursive: true });
  }
  const { exports } = JSON.parse(fs.readFileSync(path.join(to, "package.json"), "utf8"));
  return pathToFileURL(path.join(to, exports["."].default ?? exports["."]));
}

/** Numbers that a printed seed brings back (mulberry32): `random()` in [0, 1). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Waits until `check()` is true. */
export async function until(check, what, limit = 15_000) {
  for (const end = Date.now() + limit; !(await check()); await sleep(10)) {
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
  }
}
