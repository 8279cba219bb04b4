// Running other programs, with a line per step: what, how long, and the whole output when it fails.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Ends the run with one plain line. */
export class Stop extends Error {
  name = "Stop";
}

const terminal = process.stderr.isTTY === true && process.env.CI === undefined;
const quietSeconds = 30; // without a terminal: how long to be silent before saying that it still runs

export function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** Runs a program with its output kept back: a person sees the last line of it, and all of it if it fails. */
export async function step(title, program, args, options = {}) {
  const start = performance.now();
  const shown = progress(title, start);
  let output = "";
  const code = await run(program, args, {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
    onOutput(text) {
      output += text;
      shown.last(text);
    },
  });
  shown.end();
  if (code === 0) {
    console.error(`${title}: done in ${seconds(start)}`);
    return output;
  }
  console.error(output);
  throw new Stop(
    `${title}: failed after ${seconds(start)} (\`${[program, ...args].join(" ")}\` ended with ${code}; its output is above).`,
  );
}

/** Runs a program whose output is the point of it. Gives the exit code. */
export function show(program, args, options = {}) {
  return run(program, args, { ...options, stdio: ["ignore", "inherit", "inherit"] });
}

function run(program, args, { onOutput, ...options }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, ...options });
    child.stdout?.setEncoding("utf8").on("data", onOutput);
    child.stderr?.setEncoding("utf8").on("data", onOutput);
    child.on("error", (error) => {
      (onOutput ?? console.error)(`${program}: ${error.message}\n`);
      resolve(127);
    });
    child.on("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

function progress(title, start) {
  let line = "";
  const draw = () => {
    const text = `${title} … ${Math.round((performance.now() - start) / 1000)} s  ${line}`;
    process.stderr.write(`\r\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}`);
  };
  const say = () => console.error(`${title}: still running after ${seconds(start)}${line && ` (${line})`}`);
  if (terminal) draw();
  else console.error(`${title} …`);
  const timer = terminal ? setInterval(draw, 500) : setInterval(say, quietSeconds * 1000);
  return {
    last(text) {
      line = text.trim().split("\n").at(-1).trim() || line;
    },
    end() {
      clearInterval(timer);
      if (terminal) process.stderr.write("\r\x1b[K");
    },
  };
}
