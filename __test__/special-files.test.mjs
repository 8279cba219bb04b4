// G1: a FIFO, a socket or a device is refused at once, never waited for, read or written; it can be seen and removed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { onBackends } from "./support/backends.mjs";
import { after, rejectsWith } from "./support/host.mjs";
import { device, fifo, file, isRoot, leftovers, link, plant, snapshot, socket } from "./support/tree.mjs";

const KINDS = { fifo: fifo(), socket: socket(), ...(isRoot ? { device: device() } : {}) };
test("devices are tried too", { skip: !isRoot && "needs root for mknod" }, () => assert.ok(KINDS.device));

/** Not one call may wait: a read of a FIFO without a writer waits for ever in node:fs. */
async function soon(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it waits")), 5_000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

onBackends("refused without blocking, and left as it is", { timeout: 30_000 }, async (t, h) => {
  plant(h.roots.session, { ...KINDS, "to-fifo": link("fifo"), "plain.txt": file("x") });
  const before = snapshot(h.roots.session);
  for (const kind of Object.keys(KINDS)) {
    const at = `/session/${kind}`;
    await t.test(kind, async () => {
      const refusals = [
        () => h.files.read(at),
        () => h.files.read(at, { encoding: "utf8" }),
        () => h.files.read(at, { range: { start: 0, end: 1 } }),
        () => h.files.readStream(at),
        () => h.files.writeText(at, "x"),
        () =>
          h.files.write(
            at,
            (async function* () {
              yield "x";
            })(),
          ),
        () => h.files.writeJSON(at, {}),
      ];
      for (const run of refusals) await soon(rejectsWith(run, "FS_NOT_REGULAR_FILE"));
      for (const run of [
        () => h.files.read(`${at}/x`),
        () => h.files.writeText(`${at}/x`, "x"),
        () => h.files.writeText(`${at}/a/b`, "x"),
        () => h.files.list(at),
        () => h.files.list(`${at}/x`),
      ]) {
        await soon(rejectsWith(run, "FS_NOT_DIRECTORY"));
      }
      const entry = await soon(h.files.stat(at));
      assert.equal(entry.kind, "other");
      assert.equal(entry.sha256, undefined);
      await soon(assert.rejects(h.main.artifacts.read(at), (error) => error.code.startsWith("FS_")));
      // Guards neither hash it nor take it for missing.
      await soon(
        assert.rejects(h.files.writeText(at, "x", { ifMatch: "0".repeat(64) }), (error) =>
          ["FS_NOT_REGULAR_FILE", "FS_STALE_VERSION"].includes(error.code),
        ),
      );
      await soon(
        assert.rejects(h.files.writeText(at, "x", { ifNoneMatch: "*" }), (error) =>
          ["FS_NOT_REGULAR_FILE", "FS_ALREADY_EXISTS"].includes(error.code),
        ),
      );
      await soon(
        assert.rejects(h.files.remove(at, { ifMatch: "0".repeat(64) }), (error) =>
          ["FS_NOT_REGULAR_FILE", "FS_STALE_VERSION"].includes(error.code),
        ),
      );
    });
  }
  await soon(rejectsWith(h.files.read("/session/to-fifo"), "FS_NOT_REGULAR_FILE"));
  await soon(rejectsWith(h.files.readStream("/session/to-fifo"), "FS_NOT_REGULAR_FILE"));
  const kinds = Object.fromEntries(
    (await soon(h.files.list("/session", { recursive: true }))).map((entry) => [entry.path, entry.kind]),
  );
  for (const kind of Object.keys(KINDS)) assert.equal(kinds[`/session/${kind}`], "other");
  assert.equal(kinds["/session/plain.txt"], "file");
  assert.deepEqual(snapshot(h.roots.session), before);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("a FIFO with someone at its other end is refused as well", { timeout: 30_000 }, async (t, h) => {
  plant(h.roots.session, { in: fifo(), out: fifo() });
  const [reader, writer] = [path.join(h.roots.session, "in"), path.join(h.roots.session, "out")];
  const cat = spawn("cat", [reader], { stdio: ["ignore", "pipe", "ignore"] });
  const echo = spawn("sh", ["-c", 'echo secret > "$1"', "sh", writer], { stdio: "ignore" });
  const got = [];
  cat.stdout.on("data", (part) => got.push(part));
  try {
    await soon(rejectsWith(h.files.writeText("/session/in", "EVIL"), "FS_NOT_REGULAR_FILE"));
    await soon(rejectsWith(h.files.read("/session/out"), "FS_NOT_REGULAR_FILE"));
    await soon(rejectsWith(h.files.readStream("/session/out"), "FS_NOT_REGULAR_FILE"));
  } finally {
    cat.kill("SIGKILL");
    echo.kill("SIGKILL");
    await Promise.all(
      [cat, echo].map((child) =>
        child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined,
      ),
    );
  }
  assert.equal(Buffer.concat(got).toString(), "", "nothing went into the pipe");
});

onBackends("removed like a file, alone and with its folder", { timeout: 30_000 }, async (t, h) => {
  plant(h.roots.session, {
    ...KINDS,
    ...Object.fromEntries(Object.entries(KINDS).map(([name, what]) => [`tree/deep/${name}`, what])),
  });
  for (const kind of Object.keys(KINDS)) await soon(h.files.remove(`/session/${kind}`));
  assert.deepEqual(fs.readdirSync(h.roots.session), ["tree"]);
  await soon(h.files.remove("/session/tree", { recursive: true }));
  assert.deepEqual(fs.readdirSync(h.roots.session), []);
  assert.deepEqual(leftovers(h.dataDir), []);
  if (isRoot) assert.ok(fs.statSync("/dev/zero").isCharacterDevice(), "the device itself is still there");
});

/** Mounts for one test; gives whether that can be done here. */
function mount(t, args, at) {
  if (spawnSync("mount", [...args, at]).status !== 0) return false;
  after(t, () => {
    // It may have been moved: unmounted wherever it is now.
    const mounts = fs
      .readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1]);
    const base = at.slice(0, at.indexOf("/data/"));
    for (const each of mounts.reverse()) if (each?.startsWith(base)) spawnSync("umount", ["-l", each]);
  });
  return true;
}

for (const kind of ["bind", "tmpfs"]) {
  onBackends(
    `a ${kind} mount inside a root: seen, never removed, nor what is in it, nor any folder above it`,
    { skip: !isRoot && "needs root to mount" },
    async (t, h) => {
      plant(h.roots.session, { "a/b/mount/covered": "x", "a/kept.txt": "x" });
      plant(h.outside, { "data/precious.txt": "CANARY" });
      const at = path.join(h.roots.session, "a/b/mount");
      const source = path.join(h.outside, "data");
      if (!mount(t, kind === "bind" ? ["--bind", source] : ["-t", "tmpfs", "none"], at))
        return t.skip("cannot mount here");
      if (kind === "tmpfs") plant(at, { "precious.txt": "CANARY" });
      const before = snapshot(h.outside);
      assert.equal((await h.files.read("/session/a/b/mount/precious.txt")).text(), "CANARY");
      assert.ok(
        (await h.files.list("/session", { recursive: true })).some(
          (entry) => entry.path === "/session/a/b/mount/precious.txt",
        ),
      );
      // Publishing into another file system is told, not copied.
      await rejectsWith(h.files.writeText("/session/a/b/mount/new.txt", "x"), "FS_IO_ERROR", { osCode: "EXDEV" });
      for (const target of ["a/b/mount", "a/b", "a", "a/"]) {
        await rejectsWith(h.files.remove(`/session/${target}`, { recursive: true, force: true }), "FS_SANDBOX_DENIED", {
          reason: "root",
        });
      }
      assert.equal(fs.readFileSync(path.join(at, "precious.txt"), "utf8"), "CANARY");
      assert.deepEqual(snapshot(h.outside), before);
      assert.ok(fs.existsSync(path.join(h.roots.session, "a/kept.txt")), "a refused remove takes nothing");
      assert.deepEqual(leftovers(h.dataDir), []);
    },
  );
}
