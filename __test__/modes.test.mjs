// Files that the package makes are for their owner alone, whatever the umask; a replaced file keeps its execute bits.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { lastJson, runChild } from "./support/process.mjs";

for (const umask of ["000", "022", "077", "777"]) {
  test(`0600 and 0700 under umask ${umask}`, async (t) => {
    const modes = lastJson(await runChild(t, "modes", [path.join(tempDir(t), "data"), umask]));
    const tool = Object.keys(modes).find((name) => name.endsWith("tool.sh"));
    assert.equal(
      Number.parseInt(modes[tool].split(" ")[1], 8) & 0o100,
      0o100,
      `execute bits of a replaced file: ${modes[tool]}`,
    );
    delete modes[tool];
    for (const expected of [
      "harness.db",
      "harness.db-wal",
      "harness.db-shm",
      "sessions/modes/trace.ndjson",
      "sessions/modes/session.json",
      "sessions/modes/publish.lock",
      "sessions/modes/session/new/er/file.txt",
    ]) {
      assert.ok(expected in modes, `${expected} was looked at: ${Object.keys(modes)}`);
    }
    for (const [name, mode] of Object.entries(modes))
      assert.equal(mode, mode.startsWith("folder") ? "folder 700" : "file 600", name);
  });
}
