// machine.mjs DATADIR SETTINGS: a host as it runs on each machine, with a dataDir of its own. Told what to do by the example.
import { createHash } from "node:crypto";
import { localHost } from "@little-stack/files";
import { openStore } from "./store.mjs";

const [dataDir, json] = process.argv.slice(2);
const settings = JSON.parse(json);
const store = await openStore(settings);
const host = localHost({
  dataDir,
  persistentDirs: [store.dir],
  onEvent: ({ type }) => type === "harness.persistent_dir.commit.started" && process.send({ committing: true }),
});
const session = await host.sessions.getOrCreate({ id: "chat", extraBody: { user: settings.user } });
const memory = "/persistent/memory";

const tasks = {
  /** One turn of an agent: reads what there is, writes, and finishes, which commits. */
  async turn({ write }) {
    const turn = await session.beginTurn();
    const found = await contents(turn.files);
    for (const [name, text] of Object.entries(write)) await turn.files.writeText(`${memory}/${name}`, text);
    const { persistence } = await turn.finish();
    const [{ status, error }] = persistence.commits;
    return { found, status, error: error?.message };
  },
  async pending() {
    const pending = await session.persistence.pending();
    return pending.map(({ path }) => path.slice(memory.length + 1)).sort();
  },
  /** Safe at any time: what has landed is found, and not sent again. */
  async retry() {
    const { commits } = await session.persistence.commit();
    return { status: commits[0].status, landed: commits[0].changes, error: commits[0].error?.message };
  },
};

/** Name → digest of what is there. */
async function contents(files) {
  const found = {};
  for (const { path, kind } of await files.list(memory, { recursive: true })) {
    if (kind !== "file") continue;
    const { content } = await files.read(path);
    found[path.slice(memory.length + 1)] = createHash("sha256").update(content).digest("hex");
  }
  return found;
}

process.on("message", async ({ task, ...given }) => {
  if (task === "end") {
    await host.close();
    await store.close();
    return process.disconnect();
  }
  try {
    process.send({ done: await tasks[task](given) });
  } catch (error) {
    process.send({ failed: error.message });
  }
});
process.send({ ready: true });
