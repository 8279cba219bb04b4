// What is done with an entry once it is loaded. A host is used for real, since that is what loads the addon.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function use(entry, loaded) {
  if (entry.endsWith("/package.json")) {
    expect((loaded.default ?? loaded).name, entry.replace("/package.json", ""));
  } else if (loaded.localHost) {
    await useHost(loaded.localHost);
  }
  process.stdout.write("fine");
}

async function useHost(localHost) {
  const dataDir = mkdtempSync(join(tmpdir(), "little-files-entry-"));
  try {
    const host = localHost({ dataDir });
    const session = await host.sessions.getOrCreate({ id: "entry" });
    const { path } = await session.files.writeText("/session/a.txt", "hello");
    expect((await session.files.read(path)).text(), "hello");
    await host.close();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function expect(found, wanted) {
  if (found !== wanted) throw new Error(`expected ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`);
}
