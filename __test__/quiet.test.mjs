// No error, event, reference or listing shows where the files really are, whatever is asked and whatever goes wrong.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { test } from "node:test";
import { after, tempDir, withHost } from "./support/host.mjs";
import { ramfs, tmpfs } from "./support/mounts.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { dataDirOfNobody } from "./support/drop-rights.mjs";
import { fifo, isRoot, link, plant, socket } from "./support/tree.mjs";

const HOSTILE = [
  "/session/../x",
  "/etc/passwd",
  "session/x",
  "",
  "/",
  "/session",
  "/session/",
  "/persistent/none/x",
  "/.agents/x",
  "/session/\0",
  "/session/a\\b",
  "/session/out/x",
  "/session/out",
  "/session/absolute",
  "/session/loop",
  "/session/dangling",
  "/session/fifo",
  "/session/socket",
  "/session/folder",
  "/session/file.txt/x",
  "/session/none",
  "/session/none/deeper",
  `/session/${"x".repeat(256)}`,
  "/session/\ud800",
  undefined,
  null,
  7,
  {},
];

const seen = { values: [], errors: [] };
const keep = (promise) =>
  promise.then(
    (value) => {
      seen.values.push(value);
      return value;
    },
    (error) => {
      seen.errors.push(error);
    },
  );

/** Every method with this path and options that make sense, and some that do not. */
async function everything({ files, artifacts }, name) {
  for (const options of [
    undefined,
    {},
    { ifMatch: "0".repeat(64) },
    { ifNoneMatch: "*" },
    { mediaType: "text/plain", artifact: true },
    { signal: AbortSignal.abort() },
    { metadata: "none" },
  ]) {
    await keep(files.write(name, "content", options));
    await keep(files.writeText(name, "content", options));
    await keep(files.writeJSON(name, { content: 1 }, options));
  }
  await keep(files.write(name, new Map()));
  await keep(files.writeJSON(name, undefined));
  await keep(
    files.write(
      name,
      (async function* () {
        yield "x";
        throw new Error("the source's own");
      })(),
    ),
  );
  for (const options of [
    undefined,
    { encoding: "utf8" },
    { range: { start: 2, end: 1 } },
    { maxBytes: 1 },
    { encoding: "latin1" },
  ])
    await keep(files.read(name, options));
  await keep(files.readStream(name)).then(
    (stream) =>
      stream &&
      keep(
        (async () => {
          for await (const _ of stream) {
            /* drained */
          }
        })(),
      ),
  );
  await keep(files.stat(name));
  for (const options of [
    undefined,
    { recursive: true },
    { pattern: "[" },
    { pattern: "**" },
    { limit: -1 },
    { after: "/other" },
  ])
    await keep(files.list(name, options));
  await keep(artifacts.read(name));
  for (const options of [{ ifMatch: "0".repeat(64) }, undefined, { recursive: true }, { force: true }])
    await keep(files.remove(name, options));
}

/** JSON, util.inspect with all that is hidden, own and inherited text, causes, stacks. */
function texts(value) {
  const found = [inspect(value, { depth: 8, showHidden: true, getters: true, maxStringLength: null }), String(value)];
  try {
    found.push(JSON.stringify(value) ?? "");
  } catch {
    found.push("");
  }
  for (let error = value; error instanceof Error; error = error.cause)
    found.push(
      error.message,
      error.stack,
      JSON.stringify(Object.getOwnPropertyDescriptors(error), (_, inner) =>
        typeof inner === "function" ? undefined : inner,
      ),
    );
  return found;
}

function assertQuietOf(h, key, values) {
  const secrets = [h.dataDir, fs.realpathSync(h.dataDir), path.basename(h.base), `sessions/${key}`, h.outside];
  for (const value of values) {
    for (const text of texts(value)) {
      for (const secret of secrets) assert.ok(!text.includes(secret), `"${secret}" is shown: ${text.slice(0, 1500)}`);
    }
  }
}

function littered(h) {
  plant(h.roots.session, {
    out: link(h.outside),
    absolute: link(path.join(h.outside, "x")),
    loop: link("loop"),
    dangling: link("nowhere"),
    "folder/inner.txt": "inner",
    "file.txt": "there",
    fifo: fifo(),
    socket: socket(),
  });
  plant(h.roots.artifacts, { "inside.txt": "by a shell" });
  fs.writeFileSync(path.join(h.outside, "x"), "outside");
}

for (const resolver of [undefined, "walk"]) {
  test(`a broad run, valid and hostile, on the ${resolver ?? "default"} resolver`, { timeout: 120_000 }, async (t) => {
    const id = "quiet";
    const h = await withHost(t, { resolver, sessionId: id, quota: { fileBytes: 1 << 20 } });
    const key = path.basename(h.home);
    seen.values.length = seen.errors.length = 0;
    for (const name of HOSTILE) {
      littered(h);
      await everything(h.main, name);
      for (const each of fs.readdirSync(h.roots.session))
        fs.rmSync(path.join(h.roots.session, each), { recursive: true });
      fs.rmSync(h.roots.artifacts, { recursive: true });
      fs.mkdirSync(h.roots.artifacts, { mode: 0o700 });
    }
    await keep(h.files.write("/session/big.bin", Buffer.alloc((1 << 20) + 1)));
    for (const bad of ["", "x".repeat(1025), "\ud800", 7]) await keep(h.sessions.getOrCreate({ id: bad }));
    await keep(h.main.status());
    await keep(h.sessions.list());
    await h.main.close();
    await everything(h.main, "/session/a");
    assert.ok(
      seen.errors.length > 300 && seen.values.length > 20 && h.events.length > 50,
      `${seen.errors.length} errors, ${seen.values.length} values, ${h.events.length} events`,
    );
    for (const error of seen.errors) assert.match(String(error.code), /^FS_/, inspect(error));
    assertQuietOf(h, key, [...seen.errors, ...seen.values, ...h.events]);
  });
}

test("roots that another program took away, or put something else in their place", async (t) => {
  const takes = {
    gone: (h) => fs.rmSync(h.home, { recursive: true }),
    moved: (h) => fs.renameSync(h.home, path.join(h.base, "elsewhere")),
    "a file": (h) => {
      fs.rmSync(h.roots.session, { recursive: true });
      fs.writeFileSync(h.roots.session, "");
    },
    "a link": (h) => {
      fs.rmSync(h.roots.session, { recursive: true });
      fs.symlinkSync(h.outside, h.roots.session);
    },
    "no staging folder": (h) => fs.rmSync(path.join(h.home, "staging"), { recursive: true }),
    "no lock file": (h) => fs.rmSync(path.join(h.home, "publish.lock")),
    "a folder for the trace": (h) => {
      fs.rmSync(path.join(h.home, "trace.ndjson"), { force: true });
      fs.mkdirSync(path.join(h.home, "trace.ndjson"));
    },
  };
  for (const [what, take] of Object.entries(takes)) {
    await t.test(what, async (inner) => {
      const h = await withHost(inner);
      await h.files.write("/session/a.txt", "there");
      take(h);
      seen.values.length = seen.errors.length = 0;
      for (const name of ["/session/a.txt", "/session/new/b.txt", "/session/folder", "/artifacts/c.txt"])
        await everything(h.main, name);
      await keep(h.main.flush());
      await keep(h.main.status());
      await keep(h.session().then(() => undefined));
      await keep(h.sessions.delete("test"));
      assertQuietOf(h, "test", [...seen.errors, ...seen.values, ...h.events]);
      for (const error of seen.errors) assert.match(String(error.code), /^FS_/, inspect(error));
      assert.deepEqual(fs.readdirSync(h.outside), [], "nothing went where the link points");
    });
  }
});

test("a full disk", async (t) => {
  const base = tmpfs(t, "1m");
  if (base === undefined) return;
  const h = await withHost(t, { base });
  seen.values.length = seen.errors.length = 0;
  await keep(h.files.write("/session/big.bin", Buffer.alloc(3 << 20)));
  await keep(
    h.files.write(
      "/session/big.bin",
      (async function* () {
        for (let n = 0; n < 64; n++) yield Buffer.alloc(65536);
      })(),
    ),
  );
  assert.equal(seen.errors.length, 2);
  assertQuietOf(h, "test", [...seen.errors, ...h.events]);
});

test("a root that is a mount of its own", async (t) => {
  const h = await withHost(t);
  const mount = ramfs(t);
  if (mount === undefined) return;
  const { execFileSync } = await import("node:child_process");
  execFileSync("mount", ["--bind", mount, h.roots.session]);
  after(t, () => execFileSync("umount", ["-l", h.roots.session]));
  seen.values.length = seen.errors.length = 0;
  const again = await withHost(t, { base: h.base });
  for (const name of ["/session/a.txt", "/session/folder/b.txt"]) await everything(again.main, name);
  assertQuietOf(h, "test", [...seen.errors, ...seen.values, ...again.events]);
});

test("what the kernel refuses to this user (FS_PERMISSION_DENIED)", async (t) => {
  if (!isRoot) return t.skip("needs root, to start a program as another user");
  const base = tempDir(t);
  const dataDir = dataDirOfNobody(base);
  const { codes, shown } = lastJson(await runChild(t, "permission-denied", [dataDir]));
  for (const [call, code] of Object.entries(codes)) assert.equal(code, "FS_PERMISSION_DENIED", call);
  assert.ok(Object.keys(codes).length >= 9);
  for (const secret of [dataDir, path.basename(base), "sessions/denied"])
    assert.ok(!shown.includes(secret), `"${secret}" is shown: ${shown}`);
  assert.match(shown, /EACCES|EPERM/);
});
