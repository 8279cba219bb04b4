// Looking for what other programs changed: 10,000 files of which none did, against reading and hashing them.
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { compare, row } from "./harness.mjs";
import { ours, withSession } from "./peers.mjs";

const hashing = "read and hash";

export async function track({ quick }) {
  const count = quick ? 1_000 : 10_000;
  const title = `${count.toLocaleString("en")} unchanged files: what has changed?`;
  const results = await compare(
    title,
    {
      [ours]: (folder) =>
        withSession(folder, {}, async (session) => {
          await fill(session, count);
          const turn = await session.beginTurn();
          await turn.track(async () => {}); // files just written are hashed once more
          const time = await timed(() => turn.track(async () => {}));
          await turn.finish();
          return { time };
        }),
      [hashing]: (folder) =>
        withSession(folder, {}, async (session) => {
          await fill(session, count);
          const { session: root } = session.hostPaths();
          return { time: await timed(() => hashAll(join(root, "tree"))) };
        }),
    },
    { rounds: quick ? 2 : 3 },
  );
  return [row(title, results, "time", "ms")];
}

async function fill(session, count) {
  const content = Buffer.alloc(4_096, "x");
  for (let from = 0; from < count; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => session.files.write(`/session/tree/${from}/${n}.txt`, content)),
    );
  }
}

async function hashAll(folder) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      createHash("sha256")
        .update(await readFile(join(entry.parentPath, entry.name)))
        .digest("hex");
  }
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
