// persisting.mjs SETUP: a session with one Persistent Dir. Reads one command a line (JSON), answers each with one line.
import { createInterface } from "node:readline";
import { localHost } from "@little-stack/files";

const DIR = "/persistent/user";
const setup = JSON.parse(process.argv[2]);
const { openStore } = await import(setup.store.module ?? "../support/persistent/stores.mjs");
const store = openStore(setup.store);
const at = (name) => `${DIR}/${name}`;
let host;
let session;
let turn;

async function open(user) {
  host = localHost({
    dataDir: setup.dataDir,
    persistentDirs: [store.dir({ harnessDir: DIR, commit: setup.commit, byUser: setup.byUser })],
    ...setup.options,
  });
  session = await host.sessions.getOrCreate({ id: setup.id, ...(user && { extraBody: { user } }) });
}

const told = (status) => ({
  status: status.status,
  errors: (status.failedCommits ?? []).map(({ error }) => error.code),
  changes: status.commits?.[0]?.changes,
});
const paths = (list) => list?.map((name) => at(name));

const commands = {
  async begin({ user }) {
    turn = await session.beginTurn(user && { extraBody: { user } });
  },
  write: ({ name, text }) => turn.files.write(at(name), text).then(() => undefined),
  remove: ({ name }) => turn.files.remove(at(name)),
  finish: async () => told((await turn.finish()).persistence),
  abort: () => turn.abort(),
  hostWrite: ({ name, text }) => session.files.write(at(name), text).then(() => undefined),
  hostRemove: ({ name }) => session.files.remove(at(name)),
  commit: async ({ user }) => told(await session.persistence.commit(user && { extraBody: { user } })),
  pending: () => session.persistence.pending(),
  conflicts: () => session.persistence.conflicts(),
  resolve: ({ name, side }) => session.persistence.resolve(at(name), side),
  discard: ({ names, all }) => session.persistence.discard(all ? { harnessDirs: [DIR] } : { paths: paths(names) }),
  async fail({ k, when }) {
    store.fail(k, when);
  },
  async handle({ user }) {
    await session.close();
    session = await host.sessions.getOrCreate({ id: setup.id, ...(user && { extraBody: { user } }) });
  },
  async restart({ user }) {
    await host.close();
    await open(user);
  },
  folder: async () => session.hostPaths().persistent[DIR],
};

let count = 0;
await open(setup.user);
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.op === "end") break;
  const reply = { reply: count++ };
  try {
    reply.value = (await commands[command.op](command)) ?? null;
  } catch (error) {
    reply.failure = { code: String(error.code), message: String(error.message), stack: String(error.stack) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
await host.close();
process.stdin.destroy();
