// creating.mjs DATADIR TAG COUNT: tries to create each of /session/0.txt … with ifNoneMatch, and says which it created.
import { localHost } from "@little-stack/files";

const [dataDir, tag, count] = process.argv.slice(2);
const host = localHost({ dataDir });
const { files } = await host.sessions.getOrCreate({ id: "guarded" });
const won = [];
await Promise.all(
  Array.from({ length: Number(count) }, async (_, n) => {
    try {
      await files.write(`/session/${n}.txt`, tag, { ifNoneMatch: "*" });
      won.push(n);
    } catch (error) {
      if (error.code !== "FS_ALREADY_EXISTS") throw error;
    }
  }),
);
await host.close();
console.log(JSON.stringify({ tag, won }));
