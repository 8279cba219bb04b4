// postgres-large.mjs URL SCOPE DATADIR MIB out|in: a file of so many MiB to the store, or from it. Says how much memory that took at
// the most, and the content's sha256.
import { createHash } from "node:crypto";
import pg from "pg";
import { localHost } from "@little-stack/files";
import { postgresDir } from "@little-stack/files/postgres";

const [connectionString, scope, dataDir, size, way] = process.argv.slice(2);
const FILE = "/persistent/user/large.bin";
const pool = new pg.Pool({ connectionString });
const host = localHost({ dataDir, persistentDirs: [postgresDir({ pool, scope, harnessDir: "/persistent/user" })] });
const session = await host.sessions.getOrCreate({ id: "large" });

async function* content() {
  const chunk = Buffer.alloc(1 << 20, "0123456789abcdef");
  for (let n = 0; n < Number(size); n++) {
    chunk.writeUInt32LE(n, 0);
    yield Buffer.from(chunk);
  }
}

let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage().rss);
};
async function ready() {
  if (way === "in") return { end: () => session.beginTurn() };
  const turn = await session.beginTurn();
  const { sha256 } = await turn.files.write(FILE, content());
  return { sha256, end: () => turn.finish() };
}

const { sha256, end } = await ready();
await pool.query("SELECT 1");
globalThis.gc?.();
const before = process.memoryUsage().rss;
const timer = setInterval(look, 10);
const start = performance.now();
const ended = await end();
const ms = performance.now() - start;
look();
clearInterval(timer);
const status = ended.persistence?.status;
const found = way === "in" ? await hashed(ended.files) : sha256;
if (way === "in") await ended.finish();
await host.close();
await pool.end();
console.log(
  JSON.stringify({ status, sha256: found, ms: Math.round(ms), peakMiB: Math.round((peak - before) / 2 ** 20) }),
);

async function hashed(files) {
  const hash = createHash("sha256");
  for await (const chunk of await files.readStream(FILE)) hash.update(chunk);
  return hash.digest("hex");
}
