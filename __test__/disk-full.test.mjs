// A full disk: FS_NO_SPACE, the old file whole, nothing left behind, and the next write that fits works.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { tmpfs } from "./support/mounts.mjs";
import { has, startProgram } from "./support/process.mjs";
import { leftovers, snapshot } from "./support/tree.mjs";

const MiB = 1 << 20;
const sources = {
  buffer: (bytes) => Buffer.alloc(bytes, "n"),
  string: (bytes) => "n".repeat(bytes),
  stream: async function* (bytes) {
    for (let at = 0; at < bytes; at += 65_536) yield Buffer.alloc(65_536, "n");
  },
  blob: (bytes) => new Blob([Buffer.alloc(bytes, "n")]),
};

for (const [kind, source] of Object.entries(sources)) {
  for (const resolver of [undefined, "walk"]) {
    test(`3 MiB on a disk of 1 MiB, as a ${kind}, on the ${resolver ?? "default"} resolver`, async (t) => {
      const base = tmpfs(t, "1m");
      if (base === undefined) return;
      const h = await withHost(t, { base, resolver });
      await h.files.write("/session/a.txt", "the old");
      const before = snapshot(h.roots.session);
      await rejectsWith(h.files.write("/session/a.txt", source(3 * MiB)), "FS_NO_SPACE", {
        path: "/session/a.txt",
        osCode: "ENOSPC",
      });
      await rejectsWith(h.files.write("/session/new/er/b.txt", source(3 * MiB)), "FS_NO_SPACE");
      const guarded = await h.files.write("/session/a.txt", source(3 * MiB), { ifNoneMatch: "*" }).then(
        () => "written",
        (error) => error.code,
      );
      assert.ok(["FS_NO_SPACE", "FS_ALREADY_EXISTS"].includes(guarded), guarded);
      assert.deepEqual(snapshot(h.roots.session), before, "the old file is the same, no folder was made");
      assert.deepEqual(leftovers(h.dataDir), []);
      const ref = await h.files.write("/session/a.txt", "next");
      assert.equal((await h.files.read("/session/a.txt")).sha256, ref.sha256);
      assert.ok(h.events.every((event) => event.metadata.path !== "/session/new/er/b.txt"));
    });
  }
}

test("writeJSON that does not fit", async (t) => {
  const base = tmpfs(t, "1m");
  if (base === undefined) return;
  const h = await withHost(t, { base });
  await h.files.writeJSON("/session/a.json", ["old"]);
  await rejectsWith(
    h.files.writeJSON(
      "/session/a.json",
      Array.from({ length: 200_000 }, (_, id) => ({ id })),
    ),
    "FS_NO_SPACE",
  );
  assert.deepEqual((await h.files.read("/session/a.json")).json(), ["old"]);
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("many large writes at once: each is whole or FS_NO_SPACE", async (t) => {
  const base = tmpfs(t, "1m");
  if (base === undefined) return;
  const h = await withHost(t, { base });
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => h.files.write(`/session/${n}.bin`, Buffer.alloc(100_000, n + 1))),
  );
  const codes = new Set(results.map((each) => (each.status === "fulfilled" ? "whole" : each.reason.code)));
  assert.ok(codes.has("whole") && codes.has("FS_NO_SPACE") && codes.size === 2, [...codes].join());
  for (const [n, each] of results.entries()) {
    const onDisk = path.join(h.roots.session, `${n}.bin`);
    if (each.status === "fulfilled") assert.ok(fs.readFileSync(onDisk).equals(Buffer.alloc(100_000, n + 1)));
    else assert.ok(!fs.existsSync(onDisk));
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

/** Takes all that is free but `spare` bytes. */
function fill(file, spare) {
  const handle = fs.openSync(file, "w");
  try {
    for (const piece of [65_536, 4096]) {
      try {
        for (;;) fs.writeSync(handle, Buffer.alloc(piece, "f"));
      } catch (error) {
        if (error.code !== "ENOSPC") throw error;
      }
    }
    const { size } = fs.fstatSync(handle);
    fs.ftruncateSync(handle, Math.max(0, size - spare));
  } finally {
    fs.closeSync(handle);
  }
}

// Every number of free pages from none up: whichever of our own writes (temp, database, trace) is the one that fails, a
// call that rejects has changed nothing, and one that resolves has written all.
for (const what of ["replace", "create", "remove"]) {
  test(`whichever step meets the full disk: ${what}`, { timeout: 120_000 }, async (t) => {
    const base = tmpfs(t, "4m"); // the log of the index has room to grow between the tries
    if (base === undefined) return;
    const h = await withHost(t, { base });
    const filler = path.join(base, "filler");
    const outcomes = { done: 0, full: 0 };
    for (let pages = 0; pages <= 40; pages++) {
      const name = what === "create" ? `/session/new-${pages}/er/a.bin` : "/session/a.bin";
      fs.rmSync(filler, { force: true });
      if (what !== "create") await h.files.write(name, Buffer.alloc(6000, "o"));
      const before = snapshot(h.roots.session);
      fill(filler, pages * 4096);
      const call =
        what === "remove"
          ? h.files.remove(name)
          : h.files.write(name, Buffer.alloc(9000, "n"), { metadata: { filler: "m".repeat(2000) } });
      const error = await call.then(
        () => undefined,
        (thrown) => thrown,
      );
      const onDisk = path.join(h.roots.session, name.slice("/session/".length));
      if (error === undefined) {
        outcomes.done++;
        if (what === "remove") assert.ok(!fs.existsSync(onDisk));
        else
          assert.ok(
            fs.readFileSync(onDisk).equals(Buffer.alloc(9000, "n")),
            `${pages} free pages: resolved, but not whole`,
          );
      } else {
        outcomes.full++;
        assert.equal(error.code, "FS_NO_SPACE", `${pages} free pages: ${error}`);
        assert.deepEqual(snapshot(h.roots.session), before, `${pages} free pages: rejected, but not as before`);
      }
      assert.deepEqual(leftovers(h.dataDir), [], `${pages} free pages`);
    }
    t.diagnostic(JSON.stringify(outcomes));
    assert.ok(outcomes.done > 0 && (outcomes.full > 0 || what === "remove"), JSON.stringify(outcomes));
    fs.rmSync(filler, { force: true });
    await h.files.write("/session/last.txt", "works again");
    assert.equal((await h.files.read("/session/last.txt")).text(), "works again");
    await h.main.flush();
    await h.close();
    const again = await withHost(t, { base });
    assert.equal((await again.files.read("/session/last.txt")).text(), "works again");
    assert.ok(
      again.events.every((event) => event.type !== "harness.index.rebuilt"),
      "a full disk damages no index",
    );
  });
}

test("a dataDir on a full disk: an error that says so, and it opens once there is room", async (t) => {
  const base = tmpfs(t, "1m");
  if (base === undefined) return;
  const filler = path.join(base, "filler");
  fill(filler, 0);
  const error = await withHost(t, { base }).then(
    () => undefined,
    (thrown) => thrown,
  );
  assert.ok(error, "it cannot open");
  assert.match(String(error.code), /^(FS_NO_SPACE|ENOSPC)$/, String(error));
  fs.rmSync(filler);
  const h = await withHost(t, { base });
  assert.equal((await h.files.write("/session/a", "x")).bytes, 1);
});

test("a file-size limit of the process is an error, not its end", async (t) => {
  if (process.platform !== "linux") return t.skip("uses prlimit");
  if (!has("prlimit")) return t.skip("prlimit (util-linux) is not installed");
  const child = fileURLToPath(new URL("children/file-size-limit.mjs", import.meta.url));
  const end = await startProgram(t, "prlimit", [
    `--fsize=${4 * MiB}`,
    process.execPath,
    child,
    path.join(tempDir(t), "data"),
  ]).ended;
  assert.deepEqual([end.code, end.signal], [0, null], end.stderr);
  const { code, osCode, old } = JSON.parse(end.stdout);
  assert.match(code, /^FS_(IO_ERROR|NO_SPACE|TOO_LARGE)$/);
  assert.equal(osCode, "EFBIG");
  assert.equal(old, "the old");
});
