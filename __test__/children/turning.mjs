// turning.mjs DATADIR hold — begins a turn, writes, says "held" and stays until it is killed or told to "finish".
// turning.mjs DATADIR count TURNS — adds one to a number, so many times, unguarded: each time in a turn of its own.
// turning.mjs DATADIR reject — says how beginTurn fails when it may not wait.
import { localHost } from "@little-stack/files";

const [dataDir, way, turns] = process.argv.slice(2);
const host = localHost({ dataDir, ...(way === "reject" && { concurrentTurns: "reject" }) });
const session = await host.sessions.getOrCreate({ id: "test" });

if (way === "hold") {
  const turn = await session.beginTurn();
  await turn.files.write("/session/held.txt", "written before the end");
  console.log("held");
  for await (const line of process.stdin) if (String(line).startsWith("finish")) break;
  await turn.finish();
  console.log("finished");
} else if (way === "count") {
  const waits = [];
  for (let at = 0; at < Number(turns); at++) {
    const start = performance.now();
    const turn = await session.beginTurn();
    waits.push(performance.now() - start);
    const count = (await turn.files.read("/session/count.json")).json();
    await turn.files.writeJSON("/session/count.json", count + 1);
    await turn.finish();
  }
  console.log(JSON.stringify({ longest: Math.round(Math.max(...waits)) }));
} else {
  const code = await session.beginTurn().then(
    () => "none",
    (error) => error.code,
  );
  console.log(JSON.stringify({ code }));
}
await host.close();
process.stdin.destroy();
