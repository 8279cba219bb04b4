// After flush, or with durability "write", every byte survives a power cut: an image is copied while it is mounted, and the copy looked at.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { after, withHost } from "./support/host.mjs";
import { tagged } from "./support/content.mjs";
import { ext4 } from "./support/mounts.mjs";
import { names, sha256 } from "./support/tree.mjs";

const SIZES = [0, 1, 100, 4096, 4097, 70_000];
const contentOf = (name, size) => tagged(sha256(name).slice(0, 8), size);

/** `files` holds what must be there: path → content. */
async function writeAll(files, wanted, folder, count) {
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const name = `${folder}/${n % 7}/${n % 3}/${n}.bin`;
      const content = contentOf(name, SIZES[n % SIZES.length]);
      await files.write(name, content);
      wanted.set(name, content);
    }),
  );
}

/** First without the package: the bytes are on the disk. Then with it: the session, its files, its facts. */
async function assertThere(t, base, wanted, gone = [], id = "test") {
  const home = path.join(base, "data", "sessions", id);
  const lost = [];
  for (const [name, content] of wanted) {
    const onDisk = path.join(home, name);
    if (!fs.existsSync(onDisk)) lost.push(`${name}: missing`);
    else if (!fs.readFileSync(onDisk).equals(content))
      lost.push(`${name}: ${fs.statSync(onDisk).size} bytes of ${content.length}`);
  }
  for (const name of gone) if (fs.existsSync(path.join(home, name))) lost.push(`${name}: is back`);
  assert.deepEqual(lost.slice(0, 5), [], `${lost.length} of ${wanted.size} lost`);
  assert.equal(JSON.parse(fs.readFileSync(path.join(home, "session.json"), "utf8")).id, id);
  const h = await withHost(t, { base, sessionId: id });
  for (const [name, content] of wanted) {
    const data = await h.files.read(name);
    assert.equal(data.sha256, sha256(content), name);
    const stat = await h.files.stat(name);
    assert.ok(stat.sha256 === undefined || stat.sha256 === data.sha256);
  }
  assert.equal(h.events.filter((event) => event.type === "harness.index.rebuilt").length, 0, "the index is whole");
  await h.files.write("/session/after.txt", "after");
  await h.close();
}

for (const [title, count] of [
  ["few files, one by one", 40],
  ["more than 256 files, as one", 420],
]) {
  test(`flush: ${title}`, { timeout: 120_000 }, async (t) => {
    const disk = ext4(t);
    if (disk === undefined) return;
    const h = await withHost(t, { base: disk.folder });
    const wanted = new Map();
    await writeAll(h.files, wanted, "/session/new/er", count);
    await h.files.write("/artifacts/twice.bin", tagged("first", 30_000));
    await h.files.write("/session/to-remove/a.bin", "x");
    await h.main.flush();
    await h.files.write("/artifacts/twice.bin", tagged("second", 20_000));
    wanted.set("/artifacts/twice.bin", tagged("second", 20_000));
    await h.files.write("/session/new/er/1/1/1.bin", tagged("second", 9000));
    wanted.set("/session/new/er/1/1/1.bin", tagged("second", 9000));
    await h.files.remove("/session/to-remove", { recursive: true });
    await h.files.writeJSON("/session/an/other/deep/folder/rows.json", [1, 2]);
    wanted.set("/session/an/other/deep/folder/rows.json", Buffer.from("[\n  1,\n  2\n]"));
    await h.main.flush();
    const copy = disk.cut();
    if (copy === undefined) return;
    await assertThere(t, copy, wanted, ["/session/to-remove", "/session/to-remove/a.bin"]);
  });
}

test("durability write: each write that resolved is there, without a flush", { timeout: 120_000 }, async (t) => {
  const disk = ext4(t);
  if (disk === undefined) return;
  const h = await withHost(t, { base: disk.folder, durability: "write" });
  const wanted = new Map();
  await writeAll(h.files, wanted, "/session/new/er", 60);
  await h.files.write(
    "/session/stream.bin",
    (async function* () {
      for (let n = 0; n < 30; n++) yield tagged("stream", 65_536);
    })(),
  );
  wanted.set("/session/stream.bin", tagged("stream", 30 * 65_536));
  await h.files.write("/session/twice.bin", tagged("first", 30_000));
  await h.files.write("/session/twice.bin", tagged("second", 20_000));
  wanted.set("/session/twice.bin", tagged("second", 20_000));
  await h.files.write("/session/guarded.bin", "one", { ifNoneMatch: "*" });
  await h.files.write("/session/guarded.bin", "two", { ifMatch: sha256("one") });
  wanted.set("/session/guarded.bin", Buffer.from("two"));
  const copy = disk.cut();
  if (copy === undefined) return;
  await assertThere(t, copy, wanted);
});

test("durability write: the very last write, alone, in folders that are all new", { timeout: 120_000 }, async (t) => {
  const disk = ext4(t, 32);
  if (disk === undefined) return;
  const h = await withHost(t, { base: disk.folder, durability: "write" });
  const deep = "/session/a/b/c/d/e/f/last.txt";
  await h.files.write(deep, "the last");
  const copy = disk.cut();
  if (copy === undefined) return;
  await assertThere(t, copy, new Map([[deep, Buffer.from("the last")]]));
});

test("a session that was just made is there, with its id and metadata", { timeout: 120_000 }, async (t) => {
  const disk = ext4(t, 32);
  if (disk === undefined) return;
  const h = await withHost(t, { base: disk.folder });
  await h.session("Ünïcode/id", { metadata: { user: "u1" } });
  const copy = disk.cut();
  if (copy === undefined) return;
  const again = await withHost(t, { base: copy });
  const session = await again.sessions.get("Ünïcode/id");
  assert.ok(session, "the session is found");
  assert.deepEqual((await session.status()).metadata, { user: "u1" });
  await again.close();
});

test(
  "what was flushed stays whole whatever is written after it and is not flushed",
  { timeout: 120_000 },
  async (t) => {
    const disk = ext4(t);
    if (disk === undefined) return;
    const h = await withHost(t, { base: disk.folder });
    const wanted = new Map();
    await writeAll(h.files, wanted, "/session/kept", 50);
    const rewritten = Array.from({ length: 20 }, (_, n) => `/session/rewritten/${n}.bin`);
    for (const name of rewritten) await h.files.write(name, tagged("old", 20_000));
    await h.main.flush();
    for (const name of rewritten) await h.files.write(name, tagged("new", 30_000));
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => h.files.write(`/session/unflushed/${n}.bin`, tagged("new", 30_000))),
    );
    const copy = disk.cut();
    if (copy === undefined) return;
    await assertThere(t, copy, wanted);
    const states = { old: 0, new: 0, empty: 0 };
    for (const name of rewritten) {
      const bytes = fs.readFileSync(path.join(copy, "data", "sessions", "test", name));
      // STORAGE.md, "Durability": between two flushes a file written since then may come out empty or old; never as a mix.
      const state =
        bytes.length === 0
          ? "empty"
          : bytes.equals(tagged("old", 20_000))
            ? "old"
            : bytes.equals(tagged("new", 30_000))
              ? "new"
              : "a mix";
      assert.ok(state in states, `${name} is ${state}`);
      states[state]++;
    }
    const made = fs.existsSync(path.join(copy, "data", "sessions", "test", "session", "unflushed"));
    t.diagnostic(
      `written after the flush: ${JSON.stringify(states)}; the new files are ${made ? "named" : "not there"}`,
    );
  },
);

test(
  "a power cut in the midst of writes: each file that is there and was flushed is whole, nothing is visible besides",
  { timeout: 120_000 },
  async (t) => {
    const disk = ext4(t);
    if (disk === undefined) return;
    const h = await withHost(t, { base: disk.folder });
    let stop = false;
    // Copying takes its time, so no write may go on meanwhile: blocks of different moments make no disk.
    const pause = { until: undefined };
    const flushed = new Map();
    after(t, () => {
      stop = true;
    });
    const writing = (async () => {
      for (let n = 0; !stop && n < 5000; n++) {
        await pause.until;
        const name = `/session/run/${n % 50}/${n}.bin`;
        const content = contentOf(name, 3000);
        await h.files.write(name, content);
        if (n % 20 !== 0) continue;
        await h.main.flush();
        flushed.set(name, content);
      }
    })();
    await new Promise((resolve) => {
      setTimeout(resolve, 1000);
    });
    let done;
    pause.until = new Promise((resolve) => {
      done = resolve;
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 200); // the write under way, and its flush
    });
    const safe = new Map(flushed);
    const copy = disk.cut();
    stop = true;
    done();
    await writing;
    if (copy === undefined) return;
    assert.ok(safe.size > 0);
    await assertThere(t, copy, safe);
    for (const name of names(path.join(copy, "data", "sessions", "test", "session")))
      assert.match(name, /^(run(\/\d+(\/\d+\.bin)?)?|after\.txt)$/);
  },
);
