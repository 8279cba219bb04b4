// open-and-look.mjs DATADIR IDS: waits for a line, opens the host, reads every file of these sessions, says what was found.
import { once } from "node:events";
import { localHost } from "@little-stack/files";

const [dataDir, ids] = process.argv.slice(2);
console.log("ready");
await once(process.stdin, "data");
const events = [];
const open = async () => {
  for (;;) {
    try {
      return localHost({ dataDir, onEvent: (event) => events.push(event) });
    } catch (error) {
      if (error.code !== "FS_BUSY") throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }
};
const host = await open();
const hashes = {};
for (const id of JSON.parse(ids)) {
  const session = await host.sessions.get(id);
  for (const root of ["/session", "/artifacts"]) {
    for (const entry of await session.files.list(root, { recursive: true })) {
      if (entry.kind === "file") hashes[`${id}:${entry.path}`] = (await session.files.read(entry.path)).sha256;
    }
  }
}
await host.close();
console.log(
  JSON.stringify({ rebuilt: events.filter((event) => event.type === "harness.index.rebuilt").length, hashes }),
);
process.stdin.destroy();
