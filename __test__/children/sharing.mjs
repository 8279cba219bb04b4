// sharing.mjs DATADIR SOURCE SECONDS SEED NAME: one of several programs on one store, each with a dataDir of its own. SOURCE is the
// folder of a localDir, or the spec of a store as support/persistent/stores.mjs describes it, with its `module`. In each
// turn it adds one to a counter, writes its tag into a pair of files and makes a file of its own; a conflict is looked at, given
// up ("theirs") and tried again. Says how often its turn landed, and everything that was not as it should be.
import { localDir, localHost } from "@little-stack/files";
import { tagged, tagOf } from "../support/content.mjs";
import { seeded, sleep } from "../support/process.mjs";

const DIR = "/persistent/user";
const [dataDir, source, seconds, seed, name] = process.argv.slice(2);
const random = seeded(Number(seed));
const end = Date.now() + Number(seconds) * 1000;
const counts = { landed: 0, conflicts: 0, merged: 0, busy: 0, longest: 0 };
const failures = [];
const mine = [];
const wrong = (text) => failures.length < 20 && failures.push(text);

const spec = source.startsWith("{") ? JSON.parse(source) : undefined;
const dir =
  spec === undefined
    ? localDir({ harnessDir: DIR, sourceDir: source })
    : (await import(spec.module)).openStore(spec).dir({ harnessDir: DIR });
let host;
let session;
async function open() {
  host = localHost({ dataDir, persistentDirs: [dir] });
  session = await host.sessions.getOrCreate({ id: name });
}
await open();

/** What any load shows is of whole commits: both files of the pair have one tag, which the counter's commit wrote as well. */
async function look(files) {
  const count = (await files.read(`${DIR}/counter.json`)).json();
  const wanted = `c${count.value}${count.by}`;
  const [a, b] = await Promise.all(["a", "b"].map((each) => files.read(`${DIR}/pair/${each}.bin`)));
  const tags = [a, b].map((each) => tagOf(each.content));
  if (tags[0] !== tags[1] || tags[0] !== wanted) wrong(`a mix: counter ${wanted}, pair ${tags}`);
  return count.value;
}

async function attempt() {
  const turn = await session.beginTurn();
  const value = (await look(turn.files)) + 1;
  if (random() < 0.3) await sleep(random() * 20);
  await turn.files.writeJSON(`${DIR}/counter.json`, { value, by: name });
  for (const each of ["a", "b"]) await turn.files.write(`${DIR}/pair/${each}.bin`, tagged(`c${value}${name}`, 20_000));
  const own = `${DIR}/log/${name}/${value}.txt`;
  await turn.files.write(own, `${name} ${value}`);
  const { persistence } = await turn.finish();
  if (persistence.status === "succeeded") {
    counts.landed++;
    mine.push(value);
    return;
  }
  const [{ error }] = persistence.failedCommits;
  if (error.code !== "FS_CONFLICT") return void wrong(`commit: ${error.code} ${error.message} ${error.cause}`);
  // Another one was first. Each path that both changed is told; nothing of ours was sent.
  counts.conflicts++;
  const conflicts = await session.persistence.conflicts();
  const paths = conflicts.map(({ path }) => path).sort();
  const expected = ["counter.json", "pair/a.bin", "pair/b.bin"].map((each) => `${DIR}/${each}`);
  const told = paths.filter((path) => !path.startsWith(`${DIR}/log/`));
  if (JSON.stringify(told) !== JSON.stringify(expected)) wrong(`conflicts: ${paths}`);
  for (const conflict of conflicts) {
    const theirs = await conflict.readTheirs();
    if (theirs === undefined) wrong(`theirs is nothing: ${conflict.path}`);
    await session.persistence.resolve(conflict.path, "theirs");
  }
  await session.persistence.discard({ paths: [own] });
  const left = [...(await session.persistence.pending()), ...(await session.persistence.conflicts())];
  if (left.length > 0) wrong(`left: ${left.map(({ path }) => path)}`);
}

while (Date.now() < end) {
  const start = performance.now();
  try {
    await attempt();
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
console.log(JSON.stringify({ name, counts, mine, failures }));
