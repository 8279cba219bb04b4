// What is done with an entry once it is loaded. A host is used for real, since that is what loads the addon.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function use(entry, loaded) {
  if (entry.endsWith("/package.json")) {
    expect((loaded.default ?? loaded).name, entry.replace("/package.json", ""));
  } else if (loaded.localHost) {
    await useHost(loaded.localHost, useFiles);
  } else if (loaded.sessionFileSystem ?? loaded.piExecutionFiles) {
    // They know the sessions of the main entry.
    const { localHost } = await import(entry.replace(/\/\w+$/, ""));
    await useHost(localHost, (session) => useEntry(loaded, session));
  }
  process.stdout.write("fine");
}

async function useFiles({ files }) {
  const { path } = await files.writeText("/session/a.txt", "hello");
  expect((await files.read(path)).text(), "hello");
}

async function useEntry({ sessionFileSystem, piExecutionFiles }, session) {
  if (piExecutionFiles) expect((await piExecutionFiles(session).readTextFile("none")).error.code, "not_found");
  else expect((await sessionFileSystem(session).resolve("/session/a.txt")).displayPath, "/session/a.txt");
}

async function useHost(localHost, work) {
  const dataDir = mkdtempSync(join(tmpdir(), "little-files-entry-"));
  try {
    const host = localHost({ dataDir });
    await work(await host.sessions.getOrCreate({ id: "entry" }));
    await host.close();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function expect(found, wanted) {
  if (found !== wanted) throw new Error(`expected ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`);
}
