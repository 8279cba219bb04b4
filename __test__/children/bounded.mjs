// bounded.mjs DATADIR SOURCE KIND MIB|COUNT: a Persistent Dir with one large file, or with very many; loads it, changes it,
// commits it. Says how much memory that took over what the package takes with an empty dir, in MiB.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { customDir, localDir, localHost } from "@little-stack/files";

const DIR = "/persistent/user";
const [dataDir, source, kind, size] = process.argv.slice(2);

/** A store over the folder that streams, both ways, and keeps nothing in memory. */
function streaming() {
  const real = (name) => `${source}/${name}`;
  return customDir({
    harnessDir: DIR,
    async list() {
      return fs
        .readdirSync(source, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => {
          const path = `${entry.parentPath ?? entry.path}/${entry.name}`.slice(source.length + 1);
          const { size: bytes, mtimeMs } = fs.statSync(real(path));
          return { path, kind: "file", version: `${bytes} ${mtimeMs}` };
        });
    },
    read: async ({ path }) => fs.createReadStream(real(path)),
    async write({ path, open }) {
      const out = fs.createWriteStream(real(path));
      for await (const chunk of open())
        if (!out.write(chunk)) await new Promise((resolve) => out.once("drain", resolve));
      await new Promise((resolve) => out.end(resolve));
    },
    delete: async ({ path }) => fs.rmSync(real(path)),
  });
}

const dir = kind === "local" ? localDir({ harnessDir: DIR, sourceDir: source }) : streaming();
const host = localHost({ dataDir, persistentDirs: [dir] });

/** The most that this process ever held. */
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
const empty = await host.sessions.getOrCreate({ id: "empty" });
await empty.files.write("/session/warm.bin", Buffer.alloc(1 << 20));
global.gc?.();
fs.writeFileSync("/proc/self/clear_refs", "5"); // the peak counts from here
const before = peak();

const session = await host.sessions.getOrCreate({ id: "test" });
const turn = await session.beginTurn();
const result = {};
if (Number(size) < 5000) {
  // One file of so many MiB: it came in; another one goes out.
  const stat = await turn.files.stat(`${DIR}/big.bin`);
  result.loaded = stat.bytes;
  const chunk = Buffer.alloc(1 << 20, "y");
  const hash = createHash("sha256");
  await turn.files.write(
    `${DIR}/out.bin`,
    (async function* () {
      for (let n = 0; n < Number(size); n++) {
        hash.update(chunk);
        yield chunk;
      }
    })(),
  );
  result.sha256 = hash.digest("hex");
} else {
  result.loaded = (await turn.files.list(DIR, { recursive: true })).filter((entry) => entry.kind === "file").length;
  for (let n = 0; n < 10; n++) await turn.files.write(`${DIR}/${n}/${n}.txt`, "changed");
}
const { persistence } = await turn.finish();
result.changes = persistence.commits[0].changes;
result.status = persistence.status;
result.error = persistence.failedCommits?.[0].error.message;
result.mib = Math.round(peak() - before);
await host.close();
console.log(JSON.stringify(result));
