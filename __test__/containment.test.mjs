// G1: symbolic links, hard links and moved roots never lead outside, on both resolver backends.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { onBackends } from "./support/backends.mjs";
import { collect } from "./support/content.mjs";
import { rejectsWith } from "./support/host.mjs";
import { dir, file, hardLink, leftovers, link, plant, snapshot } from "./support/tree.mjs";

const DENIED = { reason: "symlink" };
const OUTSIDE = { "secret.txt": "CANARY", "dir/inner.txt": "CANARY", "dir/real/a.txt": "CANARY" };
const INSIDE = { "real/a.txt": "inside", "real/deep/b.txt": "inside b" };
const readAll = async (stream) => (await collect(stream)).toString();

/** Links that lead out of their root, or could: nothing may pass them. `of` is the harness path below it that would exist. */
const escapes = (h) => ({
  "abs-dir": { to: path.join(h.outside, "dir"), below: "inner.txt" },
  "abs-file": { to: path.join(h.outside, "secret.txt") },
  "rel-dir": { to: "../../../../outside/dir", below: "inner.txt" },
  "rel-file": { to: "../../../../outside/secret.txt" },
  "out-and-in": { to: `../${path.basename(h.roots.session)}/real`, below: "a.txt" },
  "out-and-in-far": { to: `../../${path.basename(h.home)}/${path.basename(h.roots.session)}/real/a.txt` },
  "abs-inside": { to: path.join(h.roots.session, "real"), below: "a.txt" },
  "abs-inside-file": { to: path.join(h.roots.session, "real/a.txt") },
  "other-root": { to: "../artifacts", below: "kept.txt" },
  up: { to: "..", below: "session.json" },
  "up-from-folder": { to: "real/../..", below: "session.json" },
  slash: { to: "/", below: "etc/passwd" },
  etc: { to: "/etc/passwd" },
  proc: { to: "/proc/self/root", below: "etc/passwd" },
  "proc-cwd": { to: "/proc/self/cwd", below: "package.json" },
  "chain-1": { to: "chain-2", below: "inner.txt" },
  "chain-2": { to: "./real/../chain-3", below: "inner.txt" },
  "chain-3": { to: "abs-dir", below: "inner.txt" },
  "nested/chain": { to: "../rel-dir", below: "inner.txt" },
  "dangling-out": { to: path.join(h.outside, "new.txt") },
  "dangling-rel": { to: "../../../../outside/new.txt" },
  "dangling-dir": { to: path.join(h.outside, "new-dir"), below: "x.txt" },
  "loop-self": { to: "loop-self" },
  "loop-a": { to: "loop-b", below: "x" },
  "loop-b": { to: "real/../loop-a", below: "x" },
});

function lay(h, extra = {}) {
  plant(h.outside, OUTSIDE);
  plant(h.roots.session, INSIDE);
  plant(h.roots.artifacts, { "kept.txt": "artifact" });
  const links = escapes(h);
  for (const [name, { to }] of Object.entries(links)) plant(h.roots.session, { [name]: link(to) });
  plant(h.roots.session, extra);
  return {
    links,
    outside: snapshot(h.outside),
    session: snapshot(h.roots.session),
    artifacts: snapshot(h.roots.artifacts),
  };
}
function unchanged(h, before, what) {
  assert.deepEqual(snapshot(h.outside), before.outside, `${what}: outside`);
  assert.deepEqual(snapshot(h.roots.session), before.session, `${what}: inside`);
  assert.deepEqual(snapshot(h.roots.artifacts), before.artifacts, `${what}: the other root`);
}

onBackends("no write passes or lands on a link", async (t, h) => {
  const before = lay(h);
  for (const [name, { to, below }] of Object.entries(before.links)) {
    const at = `/session/${name}`;
    const targets = [at, `${at}/x.txt`, `${at}/new/deeper/x.txt`, ...(below ? [`${at}/${below}`] : [])];
    for (const target of targets) {
      await rejectsWith(h.files.writeText(target, "EVIL"), "FS_SANDBOX_DENIED", DENIED);
      await rejectsWith(
        h.files.write(
          target,
          (async function* () {
            yield "EVIL";
          })(),
        ),
        "FS_SANDBOX_DENIED",
        DENIED,
      );
      await rejectsWith(h.files.writeText(target, "EVIL", { artifact: true }), "FS_SANDBOX_DENIED", DENIED);
    }
    await rejectsWith(h.files.writeText(`${at}/`, "EVIL"), "FS_INVALID_PATH");
    unchanged(h, before, `${name} -> ${to}`);
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("no read, listing or description passes a link that leads out", async (t, h) => {
  const before = lay(h);
  for (const [name, { below }] of Object.entries(before.links)) {
    const at = `/session/${name}`;
    const inner = below ? [`${at}/${below}`] : [];
    for (const target of [at, ...inner]) {
      await rejectsWith(h.files.read(target), "FS_SANDBOX_DENIED", DENIED);
      await rejectsWith(h.files.readStream(target), "FS_SANDBOX_DENIED", DENIED);
      await rejectsWith(h.files.list(target), "FS_SANDBOX_DENIED", DENIED);
      await rejectsWith(h.files.list(target, { recursive: true }), "FS_SANDBOX_DENIED", DENIED);
      await assert.rejects(h.main.artifacts.read(target), (error) =>
        ["FS_SANDBOX_DENIED", "FS_NOT_FOUND"].includes(error.code),
      );
    }
    for (const target of inner) await rejectsWith(h.files.stat(target), "FS_SANDBOX_DENIED", DENIED);
    for (const slash of ["/", "//", "/."]) await rejectsWith(h.files.list(at + slash), "FS_SANDBOX_DENIED", DENIED);
    const entry = await h.files.stat(at);
    assert.equal(entry.kind, "symlink");
    assert.equal(entry.path, at);
    for (const key of Object.keys(entry))
      assert.ok(["path", "kind", "bytes", "updatedAt"].includes(key), `${key} of a link`);
  }
  unchanged(h, before, "reading");
});

onBackends("removing a link removes the link, removing below it is refused", async (t, h) => {
  const before = lay(h);
  for (const [name, { below }] of Object.entries(before.links)) {
    const at = `/session/${name}`;
    for (const options of [{}, { recursive: true, force: true }]) {
      await rejectsWith(h.files.remove(`${at}/${below ?? "x"}`, options), "FS_SANDBOX_DENIED", DENIED);
    }
    unchanged(h, before, name);
  }
  for (const [at, name] of Object.keys(before.links).entries()) {
    await h.files.remove(`/session/${name}`, at % 2 === 0 ? {} : { recursive: true });
    assert.equal(fs.lstatSync(path.join(h.roots.session, name), { throwIfNoEntry: false }), undefined, name);
    delete before.session[name];
    unchanged(h, before, `remove ${name}`);
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("a trailing slash on a link does not follow it", async (t, h) => {
  const before = lay(h, { "in-dir": link("real") });
  for (const name of ["abs-dir", "rel-dir", "other-root", "chain-1", "in-dir"]) {
    for (const slash of ["/", "//", "/."]) {
      // The link may go or stay; what it points to stays.
      await h.files
        .remove(`/session/${name}${slash}`, { recursive: true, force: true })
        .catch((error) => assert.equal(error.code, "FS_SANDBOX_DENIED"));
      assert.deepEqual(snapshot(h.outside), before.outside);
      assert.equal(fs.readFileSync(path.join(h.roots.session, "real/a.txt"), "utf8"), "inside");
      assert.equal(fs.readFileSync(path.join(h.roots.artifacts, "kept.txt"), "utf8"), "artifact");
    }
  }
});

onBackends("reads and listings follow relative links that stay in their root", async (t, h) => {
  plant(h.outside, OUTSIDE);
  plant(h.roots.session, {
    ...INSIDE,
    "to-dir": link("real"),
    "to-file": link("real/a.txt"),
    dotted: link("./real/./../real//a.txt"),
    "dot-end": link("real/."),
    "sub/up": link("../real/a.txt"),
    "sub/up-dir": link("../real/deep"),
    via: link("to-dir/deep/b.txt"),
    "real/self": link(".."),
    gone: link("real/missing.txt"),
    "through-file": link("real/a.txt/x"),
    over: link("real/deep/../../real/a.txt"),
    // The chain of Go's os.Root tests.
    "g-link": link("ga/b/c/target"),
    "ga/b": link("e"),
    "ga/e": link("../gf"),
    gf: link("gg/h/i"),
    "gg/h/i": link(".."),
    "gg/c/target": "end of chain",
    "gg/h/x": "x",
  });
  const reads = {
    "to-dir/a.txt": "inside",
    "to-file": "inside",
    dotted: "inside",
    "dot-end/a.txt": "inside",
    "sub/up": "inside",
    "sub/up-dir/b.txt": "inside b",
    via: "inside b",
    "real/self/real/a.txt": "inside",
    over: "inside",
    "g-link": "end of chain",
  };
  for (const [name, text] of Object.entries(reads)) {
    assert.equal((await h.files.read(`/session/${name}`)).text(), text, name);
    assert.equal(await readAll(await h.files.readStream(`/session/${name}`)), text, name);
  }
  assert.deepEqual(
    (await h.files.list("/session/to-dir")).map((entry) => path.posix.basename(entry.path)),
    ["a.txt", "deep", "self"],
  );
  assert.equal((await h.files.list("/session/sub/up-dir/")).length, 1);
  await rejectsWith(h.files.read("/session/gone"), "FS_NOT_FOUND", { message: /ENOENT/ });
  await rejectsWith(h.files.read("/session/through-file"), "FS_NOT_DIRECTORY");
  await rejectsWith(h.files.read("/session/to-dir"), "FS_NOT_REGULAR_FILE");
  assert.equal((await h.files.stat("/session/to-file")).kind, "symlink");
  const before = snapshot(h.roots.session);
  for (const name of [...Object.keys(reads), "to-dir", "gone", "gone/x", "to-dir/new.txt", "sub/up-dir/new/x.txt"]) {
    await rejectsWith(h.files.writeText(`/session/${name}`, "EVIL"), "FS_SANDBOX_DENIED", DENIED);
  }
  await rejectsWith(h.files.remove("/session/to-dir/a.txt"), "FS_SANDBOX_DENIED", DENIED);
  await rejectsWith(h.files.remove("/session/to-dir/deep", { recursive: true }), "FS_SANDBOX_DENIED", DENIED);
  assert.deepEqual(snapshot(h.roots.session), before);
  const whole = await h.files.list("/session", { recursive: true });
  const kinds = Object.fromEntries(whole.map((entry) => [entry.path.slice("/session/".length), entry.kind]));
  assert.equal(kinds["to-dir"], "symlink");
  assert.deepEqual(Object.keys(kinds).sort(), Object.keys(before).sort(), "links are listed and not entered");
  await h.files.remove("/session/to-dir", { recursive: true });
  assert.equal(fs.readFileSync(path.join(h.roots.session, "real/a.txt"), "utf8"), "inside");
});

onBackends("forty links are followed, forty-one are not", async (t, h) => {
  plant(h.roots.session, { "end.txt": "end", "link-0": link("end.txt") });
  for (let at = 1; at <= 41; at += 1) plant(h.roots.session, { [`link-${at}`]: link(`link-${at - 1}`) });
  assert.equal((await h.files.read("/session/link-0")).text(), "end");
  assert.equal((await h.files.read("/session/link-39")).text(), "end");
  await rejectsWith(h.files.read("/session/link-40"), "FS_SANDBOX_DENIED", DENIED);
  await rejectsWith(h.files.read("/session/link-41"), "FS_SANDBOX_DENIED", DENIED);
  await rejectsWith(h.files.list("/session/link-41"), "FS_SANDBOX_DENIED", DENIED);
});

onBackends("a hard link to an outside file: the outside file is never touched", async (t, h) => {
  plant(h.outside, { a: "CANARY", b: "CANARY", c: "CANARY", d: "CANARY" });
  plant(
    h.roots.session,
    Object.fromEntries(
      ["a", "b", "c", "tree/d"].map((name) => [name, hardLink(path.join(h.outside, path.basename(name)))]),
    ),
  );
  const before = snapshot(h.outside);
  await h.files.writeText("/session/a", "inside now");
  await h.files.write(
    "/session/b",
    (async function* () {
      yield "stream";
      yield "ed";
    })(),
  );
  await h.files.remove("/session/c");
  await h.files.remove("/session/tree", { recursive: true });
  assert.deepEqual(snapshot(h.outside), before);
  assert.equal(fs.readFileSync(path.join(h.roots.session, "a"), "utf8"), "inside now");
  assert.equal(fs.statSync(path.join(h.outside, "a")).nlink, 1);
  assert.deepEqual(fs.readdirSync(h.roots.session).sort(), ["a", "b"]);
});

onBackends("the root itself renamed away and replaced by a link", async (t, h) => {
  plant(h.outside, { ...OUTSIDE, "tree/x": "CANARY", "a.txt": "CANARY" });
  plant(h.roots.session, { "a.txt": "inside", "tree/x": "inside" });
  const before = snapshot(h.outside);
  fs.renameSync(h.roots.session, `${h.roots.session}.away`);
  fs.symlinkSync(h.outside, h.roots.session);
  const tries = [
    () => h.files.writeText("/session/a.txt", "EVIL"),
    () => h.files.writeText("/session/new/b.txt", "EVIL"),
    () => h.files.remove("/session/secret.txt"),
    () => h.files.remove("/session/tree", { recursive: true }),
    () => h.files.remove("/session/dir", { recursive: true, force: true }),
    async () => assert.equal((await h.files.read("/session/a.txt")).text().includes("CANARY"), false),
    async () =>
      assert.equal(
        (await h.files.list("/session", { recursive: true })).some((entry) => /secret|dir/.test(entry.path)),
        false,
      ),
    async () => assert.equal((await h.files.read("/session/secret.txt")).text(), "never"),
  ];
  const attempt = async (run) =>
    run().catch((error) => {
      assert.notEqual(error.code, "ERR_ASSERTION", error.message);
      assert.match(error.code, /^FS_/);
    });
  for (const run of tries) await attempt(run);
  assert.deepEqual(snapshot(h.outside), before);
  // A handle opened now, and the session's end, meet the link as well.
  await attempt(async () => {
    const again = await h.session("test");
    for (const name of ["a.txt", "fresh/b.txt"]) await attempt(() => again.files.writeText(`/session/${name}`, "EVIL"));
    await attempt(async () => assert.doesNotMatch((await again.files.read("/session/secret.txt")).text(), /CANARY/));
  });
  assert.deepEqual(snapshot(h.outside), before);
  await h.main.close();
  await attempt(() => h.sessions.delete("test"));
  assert.deepEqual(snapshot(h.outside), before);
});

onBackends("the root deleted, or a file in its place: coded errors, no crash", async (t, h) => {
  const allowed = async (run) =>
    run.then(
      () => {},
      (error) => assert.match(error.code, /^FS_/, error.stack),
    );
  for (const spoil of [() => {}, (root) => fs.writeFileSync(root, "a file")]) {
    fs.rmSync(h.roots.session, { recursive: true, force: true });
    spoil(h.roots.session);
    await allowed(h.files.writeText("/session/a.txt", "x"));
    await allowed(h.files.writeText("/session/a/b/c.txt", "x"));
    await allowed(h.files.list("/session", { recursive: true }));
    await allowed(h.files.stat("/session"));
    await rejectsWith(h.files.read("/session/none.txt"), "FS_NOT_FOUND").catch(() =>
      allowed(h.files.read("/session/none.txt")),
    );
  }
  assert.equal((await h.files.writeText("/artifacts/a.txt", "x")).bytes, 1, "the other root still works");
});

onBackends("a file where a folder is needed, and the reverse", async (t, h) => {
  plant(h.roots.session, { "file.txt": file("old"), dir: dir(), "full/x": "x" });
  const before = snapshot(h.roots.session);
  for (const method of ["writeText", "read", "stat", "list", "remove"]) {
    const more = method === "writeText" ? ["new"] : [];
    await rejectsWith(h.files[method]("/session/file.txt/x", ...more), "FS_NOT_DIRECTORY");
    await rejectsWith(h.files[method]("/session/file.txt/x/y/z", ...more), "FS_NOT_DIRECTORY");
  }
  for (const name of ["dir", "full"]) {
    await rejectsWith(h.files.writeText(`/session/${name}`, "new"), "FS_NOT_REGULAR_FILE");
    await rejectsWith(h.files.read(`/session/${name}`), "FS_NOT_REGULAR_FILE");
    await rejectsWith(h.files.readStream(`/session/${name}`), "FS_NOT_REGULAR_FILE");
  }
  assert.deepEqual(snapshot(h.roots.session), before);
});
