// A message that counts as staged has its files on the disk, also after a power cut: the mark never outlives them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tagged } from "./support/content.mjs";
import { withHost } from "./support/host.mjs";
import { ext4 } from "./support/mounts.mjs";

for (const durability of ["turn", "none"]) {
  test(`durability ${durability}: mark and files survive together`, { timeout: 120_000 }, async (t) => {
    const disk = ext4(t);
    if (disk === undefined) return;
    const h = await withHost(t, { base: disk.folder, durability });
    const content = tagged("upload", 300_000);
    const parts = [0, 1, 2].map((at) => ({
      type: "file",
      filename: `${at}.bin`,
      mediaType: "application/x-any",
      url: `data:;base64,${content.toString("base64")}`,
    }));
    const messages = [{ id: "m1", role: "user", parts }];
    const first = await h.main.stageMessages(messages);
    const copy = disk.cut();
    if (copy === undefined) return;
    const after = await withHost(t, { base: copy });
    const again = await after.main.stageMessages(messages);
    assert.deepEqual([again.staged, again.messages], [[], first.messages], "it counts as staged");
    for (const { path } of first.staged) assert.ok(content.equals((await after.files.read(path)).content), path);
    await after.close();
  });
}
