// The S3 server of the tests and the benchmark: moto, in a Python environment of its own below .cache.
// `prepareS3()` sets that up, `startS3()` runs a server of its own on a loopback port.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, step } from "../steps.mjs";

const folder = join(root, ".cache/engines/s3");
const python = join(folder, "bin/python");
const ready = join(folder, "ready");
const requirements = "scripts/engines/s3-requirements.txt";

export const BUCKET = "little-files";

/** Takes a minute the first time. Gives why it cannot be had, or undefined. */
export async function prepareS3() {
  if (isPrepared()) return undefined;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    await step("Setting up the S3 server", "python3", ["-m", "venv", folder]);
    const quiet = ["--quiet", "--disable-pip-version-check"];
    await step("Installing moto", python, ["-m", "pip", "install", ...quiet, "-r", requirements]);
  } catch (error) {
    if (error.name !== "Stop") throw error;
    return missing;
  }
  writeFileSync(ready, wanted());
  return undefined;
}

const missing =
  "no S3 server: moto could not be installed, for which Python 3.10 with venv is needed, and a package index";

/** Why no server can be started, or undefined. */
export function missingS3() {
  return isPrepared() ? undefined : missing;
}

function isPrepared() {
  return existsSync(ready) && readFileSync(ready, "utf8") === wanted();
}

function wanted() {
  return createHash("sha256")
    .update(readFileSync(join(root, requirements)))
    .digest("hex");
}

/** Gives { port, pid, kill(), start(), stop() }: `kill` as a crash does, `start` goes on with what it held, `stop` removes all of it. */
export async function startS3() {
  const server = new Server();
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class Server {
  #home = mkdtempSync(join(tmpdir(), "little-files-s3-"));
  #process;
  #ended;
  port = 0;

  get pid() {
    return this.#process?.pid;
  }

  async start() {
    const args = [join(root, "scripts/engines/s3-server.py"), String(this.port), join(this.#home, "journal"), BUCKET];
    const server = spawn(python, args, { stdio: "pipe" });
    this.#process = server;
    this.#ended = once(server, "close");
    running.set(server, this.#home);
    let said = "";
    server.stderr.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-20_000);
    });
    server.stdout.setEncoding("utf8");
    const [line] = await Promise.race([once(server.stdout, "data"), this.#ended]);
    const port = /^port (\d+)$/m.exec(line)?.[1];
    if (port === undefined) throw new Error(`the S3 server did not start: ${line} ${said}`);
    this.port = Number(port);
    for (const each of [server, server.stdin, server.stdout, server.stderr]) each.unref(); // see `running`
  }

  async kill() {
    this.#process.ref();
    this.#process.kill("SIGKILL");
    await this.#ended;
    running.delete(this.#process);
  }

  async stop() {
    await this.kill();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** None outlives the program that started it: of one that is killed, the server sees its input end. */
const running = new Map();
process.on("exit", () => {
  for (const [server, home] of running) {
    server.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  }
});
