// A same-size rewrite right after a write of ours is never taken for unchanged, also where the clock of the disk is coarse.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { ramfs } from "./support/mounts.mjs";
import { sleep } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const ROUNDS = 400;
const TYPE = "application/x-told-by-the-caller";
const places = { "the usual disk": tempDir, "a coarse clock (ramfs)": ramfs };

/** What the package then says about a file that holds `theirs`, by every method that shows facts; in turn, one a round. */
const witnesses = [
  async (files, name) => [await files.stat(name)],
  async (files) => files.list("/session"),
  async (files, name) => [await files.read(name)],
  async (files, name) => [await files.stat(name), ...(await files.list("/session")), await files.read(name)],
];

for (const [where, place] of Object.entries(places)) {
  /** Writes ours, lets `between` happen, rewrites it with as many other bytes, and asks. */
  const rounds = (title, between, count = ROUNDS) =>
    test(`${title}, on ${where}`, async (t) => {
      const base = place(t);
      if (base === undefined) return;
      const { files, roots } = await withHost(t, { base });
      const name = "/session/a.bin";
      const onDisk = path.join(roots.session, "a.bin");
      const wrong = [];
      for (let round = 0; round < count; round++) {
        const ours = Buffer.from(`ours ${String(round).padStart(8)}`);
        const theirs = Buffer.from(`them ${String(round).padStart(8)}`);
        const ref = await files.write(name, ours, { mediaType: TYPE });
        await between(files, name, ref);
        fs.writeFileSync(onDisk, theirs);
        for (const seen of await witnesses[round % witnesses.length](files, name)) {
          if (seen.mediaType === TYPE) wrong.push(`round ${round}: the media type of the content before`);
          if (seen.sha256 !== undefined && seen.sha256 !== sha256(theirs))
            wrong.push(`round ${round}: the hash of the content before`);
        }
      }
      assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} wrong answers`);
    });

  rounds("rewritten at once", async () => {});
  rounds("rewritten right after its stamp was looked at again", async (files, name, ref) => {
    assert.equal((await files.stat(name)).sha256 ?? ref.sha256, ref.sha256);
    assert.equal((await files.read(name)).sha256, ref.sha256);
  });
  rounds(
    "rewritten after the stamp had time to age",
    async (files, name) => {
      await sleep(25);
      await files.read(name);
    },
    60,
  );

  test(`a guard never takes a rewrite for the version it names, on ${where}`, async (t) => {
    const base = place(t);
    if (base === undefined) return;
    const { files, roots } = await withHost(t, { base });
    const name = "/session/a.bin";
    const onDisk = path.join(roots.session, "a.bin");
    let lost = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const ref = await files.write(name, `ours ${round}`);
      const theirs = `them ${round}`;
      fs.writeFileSync(onDisk, theirs);
      const call =
        round % 2 === 0
          ? files.write(name, "next", { ifMatch: ref.sha256 })
          : files.remove(name, { ifMatch: ref.sha256 });
      const code = await call.then(
        () => "it was replaced",
        (error) => error.code,
      );
      if (code !== "FS_STALE_VERSION" || fs.readFileSync(onDisk, "utf8") !== theirs) lost++;
    }
    assert.equal(lost, 0, `${lost} of ${ROUNDS} changes of another program were lost`);
  });

  test(`a rewrite between two runs is noticed, on ${where}`, async (t) => {
    const base = place(t);
    if (base === undefined) return;
    for (let round = 0; round < 20; round++) {
      const first = await withHost(t, { base });
      await first.files.write("/session/a.bin", "content", { mediaType: TYPE });
      const onDisk = path.join(first.roots.session, "a.bin");
      await first.close();
      fs.writeFileSync(onDisk, "CONTENT");
      const second = await withHost(t, { base });
      const stat = await second.files.stat("/session/a.bin");
      assert.notEqual(stat.mediaType, TYPE);
      assert.ok(stat.sha256 === undefined || stat.sha256 === sha256("CONTENT"));
      await second.close();
    }
  });
}
