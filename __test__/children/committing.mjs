// committing.mjs DATADIR SOURCE FILES FIRST: commits to a localDir, one round after the other, for as long as it lives. Round n
// writes "n" into every file of the dir, makes new/<n>.txt and removes the one of the round before: all in one commit.
import { localDir, localHost } from "@little-stack/files";
import { tagged } from "../support/content.mjs";
import { DIR, roundFiles, SIZE } from "../support/persistent/rounds.mjs";

const [dataDir, source, files, first] = process.argv.slice(2);
const host = localHost({ dataDir, persistentDirs: [localDir({ harnessDir: DIR, sourceDir: source })] });
const session = await host.sessions.getOrCreate({ id: "test" });
for (let round = Number(first); ; round++) {
  const turn = await session.beginTurn();
  for (const name of roundFiles(Number(files))) await turn.files.write(`${DIR}/${name}`, tagged(`r${round}`, SIZE));
  await turn.files.write(`${DIR}/new/r${round}.txt`, tagged(`r${round}`, SIZE));
  for (const entry of await turn.files.list(`${DIR}/new`))
    if (!entry.path.endsWith(`/r${round}.txt`)) await turn.files.remove(entry.path);
  console.log(`committing ${round}`);
  const { persistence } = await turn.finish();
  if (persistence.status !== "succeeded") throw new Error(JSON.stringify(persistence.failedCommits[0].error.message));
  console.log(`committed ${round}`);
}
