// modes.mjs DATADIR UMASK: opens, writes and removes under this umask, and says the modes of all that was made below dataDir.
import fs from "node:fs";
import path from "node:path";
import { localHost } from "@little-stack/files";

const [dataDir, umask] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const modes = {};
const look = (at, name) => {
  const stat = fs.lstatSync(at);
  modes[name] = `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o7777).toString(8)}`;
  if (stat.isDirectory()) for (const each of fs.readdirSync(at)) look(path.join(at, each), path.join(name, each));
};
const host = localHost({ dataDir });
const session = await host.sessions.getOrCreate({ id: "modes" });
const { files } = session;
await files.write("/session/new/er/file.txt", "one");
await files.write("/session/new/er/file.txt", "two");
await files.write(
  "/artifacts/stream.bin",
  (async function* () {
    for (let n = 0; n < 40; n++) yield Buffer.alloc(65536, n);
  })(),
);
await files.writeJSON("/session/only-if-new.json", {}, { ifNoneMatch: "*" });
await files.write("/session/gone/a", "x");
await files.remove("/session/gone", { recursive: true });
fs.writeFileSync(path.join(session.hostPaths().session, "tool.sh"), "#!/bin/sh\n");
fs.chmodSync(path.join(session.hostPaths().session, "tool.sh"), 0o755);
await files.write("/session/tool.sh", "#!/bin/sh\necho new\n");
await session.flush();
look(dataDir, ".");
await host.close();
look(dataDir, ".");
console.log(JSON.stringify(modes));
