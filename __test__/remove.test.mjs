// Removing: the named thing and nothing else, at any depth, whole folders at once out of sight, nothing left behind.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { onBackends } from "./support/backends.mjs";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { asNobody, noNobody } from "./support/nobody.mjs";
import { dir, file, leftovers, link, names, plant, sha256, snapshot } from "./support/tree.mjs";

/** A chain of folders by node:fs, with a file at each level. */
function plantDeep(root, name, levels) {
  let at = path.join(root, name);
  fs.mkdirSync(at);
  for (let level = 0; level < levels; level += 1) {
    fs.writeFileSync(path.join(at, "f"), "x");
    at = path.join(at, "d");
    fs.mkdirSync(at);
  }
}

onBackends("a file goes, and what stands beside it stays", async (t, h) => {
  plant(h.roots.session, { "a.txt": "x", "b.txt": "y", "d/c.txt": "z" });
  const { "a.txt": gone, ...rest } = snapshot(h.roots.session);
  assert.equal(await h.files.remove("/session/a.txt"), undefined);
  assert.ok(gone);
  assert.deepEqual(snapshot(h.roots.session), rest);
  await h.files.remove("/session/d/c.txt", { recursive: true });
  assert.deepEqual(names(h.roots.session), ["b.txt", "d"], "recursive is no harm for a file; its folder stays");
  await rejectsWith(h.files.read("/session/a.txt"), "FS_NOT_FOUND");
  assert.deepEqual(
    (await h.files.list("/session")).map((entry) => entry.path),
    ["/session/b.txt", "/session/d"],
  );
  assert.equal((await h.files.writeText("/session/a.txt", "again", { ifNoneMatch: "*" })).bytes, 5);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("a missing path is FS_NOT_FOUND, or fine with force", async (t, h) => {
  plant(h.roots.session, { d: dir() });
  const before = snapshot(h.roots.session);
  for (const at of ["/session/none", "/session/none/deeper/x", "/session/d/none", "/artifacts/none/"]) {
    await rejectsWith(h.files.remove(at), "FS_NOT_FOUND", { message: /ENOENT/ });
    await rejectsWith(h.files.remove(at, { recursive: true }), "FS_NOT_FOUND", { message: /ENOENT/ });
    assert.equal(await h.files.remove(at, { force: true }), undefined);
    assert.equal(await h.files.remove(at, { force: true, recursive: true }), undefined);
  }
  assert.deepEqual(snapshot(h.roots.session), before);
});

onBackends("a folder needs recursive, also an empty one", async (t, h) => {
  plant(h.roots.session, { empty: dir(), "full/a/b.txt": "x", "full/c.txt": "y" });
  const before = snapshot(h.roots.session);
  for (const name of ["empty", "full", "full/a", "full/"]) {
    await rejectsWith(h.files.remove(`/session/${name}`), "FS_NOT_REGULAR_FILE", { message: /recursive/ });
    await rejectsWith(h.files.remove(`/session/${name}`, { force: true }), "FS_NOT_REGULAR_FILE");
  }
  assert.deepEqual(snapshot(h.roots.session), before);
  await h.files.remove("/session/empty", { recursive: true });
  await h.files.remove("/session/full", { recursive: true });
  assert.deepEqual(names(h.roots.session), []);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("ifMatch removes only the version that was seen", async (t, h) => {
  const ref = await h.files.writeText("/session/a.txt", "one");
  await rejectsWith(h.files.remove("/session/a.txt", { ifMatch: sha256("two") }), "FS_STALE_VERSION");
  assert.equal(fs.readFileSync(path.join(h.roots.session, "a.txt"), "utf8"), "one");
  fs.writeFileSync(path.join(h.roots.session, "a.txt"), "eno"); // the same size, by another program
  await rejectsWith(h.files.remove("/session/a.txt", { ifMatch: ref.sha256 }), "FS_STALE_VERSION");
  assert.equal(fs.readFileSync(path.join(h.roots.session, "a.txt"), "utf8"), "eno");
  await h.files.remove("/session/a.txt", { ifMatch: sha256("eno") });
  assert.deepEqual(names(h.roots.session), []);
  await assert.rejects(h.files.remove("/session/a.txt", { ifMatch: ref.sha256 }), (error) =>
    ["FS_STALE_VERSION", "FS_NOT_FOUND"].includes(error.code),
  );
  for (const ifMatch of ["", "abc", "*", 7, ref.sha256.slice(1)]) {
    await rejectsWith(h.files.remove("/session/a.txt", { ifMatch }), "FS_INVALID_OPTION", { message: /ifMatch/ });
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("of twenty guarded removes one wins", async (t, h) => {
  for (let round = 0; round < 5; round += 1) {
    const { sha256: seen } = await h.files.writeText("/session/a.txt", `round ${round}`);
    const done = await Promise.allSettled(
      Array.from({ length: 20 }, () => h.files.remove("/session/a.txt", { ifMatch: seen })),
    );
    assert.equal(done.filter((each) => each.status === "fulfilled").length, 1);
    for (const each of done)
      if (each.status === "rejected")
        assert.ok(["FS_STALE_VERSION", "FS_NOT_FOUND"].includes(each.reason.code), each.reason.message);
  }
});

onBackends("two hundred levels", async (t, h) => {
  plantDeep(h.roots.session, "deep", 200);
  plant(h.roots.session, { kept: "x" });
  await h.files.remove("/session/deep", { recursive: true });
  assert.deepEqual(names(h.roots.session), ["kept"]);
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("a thousand levels take no longer than their number", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  plantDeep(h.roots.session, "deep", 1_000);
  const start = performance.now();
  await h.files.remove("/session/deep", { recursive: true });
  const took = performance.now() - start;
  assert.deepEqual(names(h.roots.session), []);
  assert.deepEqual(leftovers(h.dataDir), []);
  assert.ok(took < 8_000, `${Math.round(took)} ms for a thousand small files`);
});

onBackends("wide and mixed trees, with names that no path may hold", async (t, h) => {
  for (let at = 0; at < 3_000; at += 1) plant(h.roots.session, { [`wide/${at % 30}/${at}`]: "x" });
  plant(h.roots.session, { "wide/new\nline": "x", "wide/back\\slash/x": "x", "wide/empty": dir() });
  fs.writeFileSync(Buffer.concat([Buffer.from(`${h.roots.session}/wide/`), Buffer.from([0xff, 0xfe])]), "x");
  await h.files.remove("/session/wide/", { recursive: true });
  assert.deepEqual(names(h.roots.session), []);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("links in a tree are removed, what they point to stays", async (t, h) => {
  plant(h.outside, { "dir/secret.txt": "CANARY", "file.txt": "CANARY" });
  plant(h.roots.artifacts, { "kept.txt": "artifact" });
  plant(h.roots.session, {
    "kept/k.txt": "x",
    "tree/a/b.txt": "y",
    "tree/abs": link(path.join(h.outside, "dir")),
    "tree/a/rel": link("../../../../../../outside/dir"),
    "tree/file": link(path.join(h.outside, "file.txt")),
    "tree/inner": link("../kept"),
    "tree/up": link(".."),
    "tree/root": link("/"),
    "tree/self": link("self"),
    "tree/gone": link("nowhere"),
    "tree/other": link("../../artifacts"),
  });
  const [outside, artifacts] = [snapshot(h.outside), snapshot(h.roots.artifacts)];
  await h.files.remove("/session/tree", { recursive: true });
  assert.deepEqual(snapshot(h.outside), outside);
  assert.deepEqual(snapshot(h.roots.artifacts), artifacts);
  assert.deepEqual(names(h.roots.session), ["kept", "kept/k.txt"]);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("no root goes, whatever the form of its name", async (t, h) => {
  plant(h.roots.session, { "a/b": "x" });
  const before = snapshot(h.home);
  for (const at of [
    "/session",
    "/session/",
    "//session//",
    "/session/.",
    "/artifacts",
    "/persistent",
    "/persistent/",
  ]) {
    for (const options of [{}, { recursive: true }, { recursive: true, force: true }, { force: true }]) {
      await rejectsWith(h.files.remove(at, options), "FS_SANDBOX_DENIED", { reason: "root" });
    }
  }
  for (const at of ["/", "//", "/."])
    await rejectsWith(h.files.remove(at, { recursive: true, force: true }), "FS_SANDBOX_DENIED");
  const after = snapshot(h.home);
  for (const name of Object.keys(before))
    if (/^(session|artifacts|persistent)/.test(name)) assert.deepEqual(after[name], before[name]);
});

test("few open files are needed, however deep and wide", async (t) => {
  const base = tempDir(t);
  const program = `
    import fs from "node:fs"; import path from "node:path";
    import { localHost } from "@little-stack/files";
    const host = localHost({ dataDir: path.join(process.env.BASE, "data") });
    const session = await host.sessions.getOrCreate({ id: "test" });
    let at = path.join(session.hostPaths().session, "deep");
    for (let level = 0; level < 300; level += 1) { fs.mkdirSync(at); for (const name of ["a", "b", "c"]) fs.mkdirSync(path.join(at, name)); at = path.join(at, "d"); }
    await session.files.remove("/session/deep", { recursive: true });
    if (fs.readdirSync(session.hostPaths().session).length > 0) throw new Error("left over");
    await host.close();
    console.log("removed");`;
  const ran = spawnSync("sh", ["-c", 'ulimit -n 90; exec "$0" --input-type=module -e "$PROGRAM"', process.execPath], {
    cwd: new URL("..", import.meta.url),
    env: { ...process.env, BASE: base, PROGRAM: program, NODE_TEST_CONTEXT: "" },
    encoding: "utf8",
    timeout: 30_000,
  });
  assert.equal(ran.stdout.trim(), "removed", ran.stderr);
});

onBackends("writes and reads that run beside a remove end well or with a code", async (t, h) => {
  for (let round = 0; round < 10; round += 1) {
    plant(h.roots.session, { "t/a/b": "old", "t/c": "old" });
    const calls = [];
    for (let n = 0; n < 12; n += 1) {
      calls.push(
        h.files.writeText(`/session/t/${n}/x`, "new"),
        h.files.read("/session/t/a/b"),
        h.files.list("/session/t", { recursive: true }),
        h.files.writeText("/session/t/c", "new"),
      );
      if (n % 4 === 0) calls.push(h.files.remove("/session/t", { recursive: true, force: true }));
    }
    for (const each of await Promise.allSettled(calls)) {
      if (each.status === "rejected")
        assert.ok(["FS_NOT_FOUND", "FS_NOT_DIRECTORY"].includes(each.reason.code), each.reason.stack);
    }
    await h.files.remove("/session/t", { recursive: true, force: true });
  }
  assert.deepEqual(names(h.roots.session), []);
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("an aborted remove leaves the file", async (t, h) => {
  plant(h.roots.session, { a: file("x"), "d/b": "x" });
  const before = snapshot(h.roots.session);
  const reason = new Error("enough");
  for (const at of ["/session/a", "/session/d"]) {
    const error = await rejectsWith(
      h.files.remove(at, { recursive: true, signal: AbortSignal.abort(reason) }),
      "FS_ABORTED",
    );
    assert.equal(error.cause, reason);
  }
  assert.deepEqual(snapshot(h.roots.session), before);
});

test(
  "folders that may not be written to (a Go module cache) go as well, also without root's rights",
  { skip: noNobody },
  (t) => {
    const program = `
    import fs from "node:fs"; import path from "node:path";
    import { localHost } from "@little-stack/files";
    const dataDir = path.join(process.env.BASE, "data");
    const host = localHost({ dataDir });
    const session = await host.sessions.getOrCreate({ id: "test" });
    const root = session.hostPaths().session;
    fs.mkdirSync(path.join(root, "go/pkg/mod"), { recursive: true });
    for (const at of ["go/a", "go/pkg/b", "go/pkg/mod/c"]) fs.writeFileSync(path.join(root, at), "x", { mode: 0o444 });
    fs.mkdirSync(path.join(root, "go/shut"));
    fs.writeFileSync(path.join(root, "go/shut/d"), "x");
    for (const at of ["go/shut"]) fs.chmodSync(path.join(root, at), 0o000);
    for (const at of ["go/pkg/mod", "go/pkg"]) fs.chmodSync(path.join(root, at), 0o555);
    const failed = await session.files.remove("/session/go", { recursive: true }).then(() => undefined, (error) => error.code);
    const left = { failed, root: fs.readdirSync(root), trash: fs.readdirSync(path.join(dataDir, "trash")) };
    await host.close();
    console.log(JSON.stringify(left));`;
    assert.deepEqual(asNobody(tempDir(t), program), { root: [], trash: [] });
  },
);
