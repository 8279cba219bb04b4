// file-size-limit.mjs DATADIR: run under a limit of 4 MiB a file; writes 8 MiB over a small file and says what came of it.
import { localHost } from "@little-stack/files";

const host = localHost({ dataDir: process.argv[2] });
const { files } = await host.sessions.getOrCreate({ id: "limited" });
await files.write("/session/a.txt", "the old");
const error = await files.write("/session/a.txt", Buffer.alloc(8 << 20)).then(
  () => ({}),
  (thrown) => thrown,
);
const old = (await files.read("/session/a.txt")).text();
await host.close();
console.log(JSON.stringify({ code: error.code, osCode: error.osCode, old }));
