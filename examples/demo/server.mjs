// A real HTTP response that takes its time: chunked, no length, chunks of uneven size with pauses between them.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export async function slowServer() {
  const chunks = Array.from({ length: 60 }, (_, minute) => readings(minute));
  const hash = createHash("sha256");
  let sent = 0;
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/csv; charset=utf-8" });
    for (const chunk of chunks) {
      hash.update(chunk);
      sent += chunk.length;
      response.write(chunk);
      await pause(15);
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/readings.csv`,
    bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    get sent() {
      return sent;
    },
    digest: () => ({ bytes: sent, sha256: hash.copy().digest("hex") }),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function readings(minute) {
  const lines = Array.from(
    { length: 50 * (1 + (minute % 7)) },
    (_, n) => `${minute},${n},${Math.sin(minute * n).toFixed(9)},°C\n`,
  );
  return Buffer.from(lines.join(""));
}
