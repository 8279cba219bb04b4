// appending.mjs DATADIR STORE SECONDS SEED NAME: one of several programs on one store that takes file by file, each with a dataDir
// of its own. In each turn it adds a line of its own to some shared files and makes one of its own; a conflict is looked at, given
// up ("theirs") and tried again. Says which lines have landed where, and everything that was not as it should be.
import { localHost } from "@little-stack/files";
import { seeded } from "../support/process.mjs";

const DIR = "/persistent/user";
const FILES = ["0.log", "1.log", "deep/2.log"];
const [dataDir, spec, seconds, seed, name] = process.argv.slice(2);
const { module } = JSON.parse(spec);
const store = (await import(module)).openStore(JSON.parse(spec));
const random = seeded(Number(seed));
const counts = { turns: 0, conflicts: 0, busy: 0, longest: 0 };
const failures = [];
/** [file, line] of what has landed. */
const landed = [];
const wrong = (text) => failures.length < 20 && failures.push(text);

let host;
let session;
async function open() {
  host = localHost({ dataDir, persistentDirs: [store.dir({ harnessDir: DIR })] });
  session = await host.sessions.getOrCreate({ id: name });
}
await open();

const whole = (path) => `${DIR}/${path}`;

async function attempt(n) {
  const turn = await session.beginTurn();
  const line = `${name} ${n}`;
  const sent = FILES.filter(() => random() < 0.6);
  for (const file of sent) {
    const { content } = await turn.files.read(whole(file));
    await turn.files.write(whole(file), `${Buffer.from(content)}${line}\n`);
  }
  await turn.files.write(whole(`own/${name}/${n}`), line);
  sent.push(`own/${name}/${n}`);
  const { persistence } = await turn.finish();
  counts.turns++;
  let left = [];
  if (persistence.status !== "succeeded") {
    const [{ error }] = persistence.failedCommits;
    if (error.code !== "FS_CONFLICT") wrong(`commit: ${error.code} ${error.message} ${error.cause}`);
    counts.conflicts++;
    const conflicts = await session.persistence.conflicts();
    const pending = await session.persistence.pending();
    left = [...conflicts, ...pending].map(({ path }) => path);
    for (const path of left) if (!sent.map(whole).includes(path)) wrong(`not ours: ${path}`);
    for (const { path } of conflicts) await session.persistence.resolve(path, "theirs");
    if (pending.length > 0) await session.persistence.discard({ paths: pending.map(({ path }) => path) });
    const rest = [...(await session.persistence.pending()), ...(await session.persistence.conflicts())];
    if (rest.length > 0) wrong(`left: ${rest.map(({ path }) => path)}`);
  }
  for (const file of sent) if (!left.includes(whole(file))) landed.push([file, line]);
}

await (await session.beginTurn()).abort(); // the first one loads the SDK
const end = Date.now() + Number(seconds) * 1000;
for (let n = 1; Date.now() < end; n++) {
  const start = performance.now();
  try {
    await attempt(n);
  } catch (error) {
    if (error.code === "FS_BUSY") counts.busy++;
    else wrong(`${error.stack} ${error.cause ?? ""}`);
  }
  counts.longest = Math.max(counts.longest, Math.round(performance.now() - start));
  if (random() < 0.03) {
    await host.close();
    await open();
  }
}
await host.close();
await store.close?.();
console.log(JSON.stringify({ name, counts, landed, failures }));
