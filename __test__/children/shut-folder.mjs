// shut-folder.mjs DATADIR: loads the package as root, becomes another user, and lets a shell shut a folder inside of
// `track`. Says the changes of that call, of one that changes a file beside it, and of one that opens it again.
import fs from "node:fs";
import path from "node:path";
import { localHost } from "@little-stack/files";
import { becomeNobody } from "../support/drop-rights.mjs";

const [dataDir] = process.argv.slice(2);
await becomeNobody();

const host = localHost({ dataDir });
const session = await host.sessions.getOrCreate({ id: "shut" });
const { session: root } = session.hostPaths();
await session.files.write("/session/shut/file.txt", "there");
await session.files.write("/session/beside.txt", "there");
const turn = await session.beginTurn();
const shut = path.join(root, "shut");
const track = async (fn) => (await turn.track(async () => fn())).changes;
const changes = {
  shut: await track(() => fs.chmodSync(shut, 0)),
  beside: await track(() => fs.writeFileSync(path.join(root, "beside.txt"), "changed")),
  opened: await track(() => fs.chmodSync(shut, 0o700)),
  removed: await track(() => fs.rmSync(shut, { recursive: true })),
};
await turn.finish();
await host.close();
console.log(JSON.stringify(changes));
