// Begins a turn in a worker thread, says so, and never ends it.
import { parentPort, workerData } from "node:worker_threads";
import { localHost } from "@little-stack/files";

const host = localHost({ dataDir: workerData });
const session = await host.sessions.getOrCreate({ id: "test" });
const turn = await session.beginTurn();
parentPort.postMessage(turn.id);
setInterval(() => turn, 1000);
