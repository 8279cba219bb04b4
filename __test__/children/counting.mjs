// counting.mjs DATADIR TIMES: adds one to /session/count.json so many times, each time guarded by the version that was read.
import { localHost } from "@little-stack/files";

const [dataDir, times] = process.argv.slice(2);
const host = localHost({ dataDir });
const { files } = await host.sessions.getOrCreate({ id: "guarded" });
let stale = 0;
for (let n = 0; n < Number(times); n++) {
  for (;;) {
    const data = await files.read("/session/count.json");
    try {
      await files.write("/session/count.json", String(Number(data.text()) + 1), { ifMatch: data.sha256 });
      break;
    } catch (error) {
      if (error.code !== "FS_STALE_VERSION") throw error;
      stale++;
    }
  }
}
await host.close();
console.log(JSON.stringify({ stale }));
