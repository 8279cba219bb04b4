// ending.mjs DATADIR WAY: starts 200 writes and ends the process in this way.
import { localHost } from "@little-stack/files";
import { tagged } from "../support/content.mjs";

const [dataDir, way] = process.argv.slice(2);
let written = 0;
const host = localHost({
  dataDir,
  onEvent: () => {
    if (way === "exit-in-event" && ++written === 20) process.exit(7);
  },
});
const session = await host.sessions.getOrCreate({ id: "ending" });
const writes = Array.from({ length: 200 }, (_, n) => session.files.write(`/session/${n}.bin`, tagged(n, 40_000)));
if (way === "exit") {
  writes.push(
    session.files.write(
      "/session/stream.bin",
      (async function* () {
        for (;;) yield tagged("stream", 65_536);
      })(),
    ),
  );
  await writes[Math.floor(Math.random() * 100)];
  process.exit(7);
}
if (way === "throw") {
  await writes[0];
  setImmediate(() => {
    throw new Error("on purpose");
  });
}
if (way === "stream") {
  await Promise.all(writes);
  const reader = (await session.files.readStream("/session/1.bin")).getReader();
  await reader.read();
}
if (way === "close") {
  await Promise.all(writes);
  await session.close();
  await host.close();
}
