// What cannot be a Persistent Dir is refused at the start, in words, before anything is read. See DESIGN sections 3 and 6.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { HarnessFileError, customDir, localDir, localHost, projectDir } from "@little-stack/files";
import { postgresDir } from "@little-stack/files/postgres";
import { s3Dir } from "@little-stack/files/s3";
import { after, rejectsWith, tempDir } from "./support/host.mjs";
import { assertHolds, filesOf, withDirs } from "./support/persistent/session.mjs";

const load = async () => ({});
const store = async () => {};
const list = async () => [];
const read = async () => "";
const write = async () => {};
const remove = async () => {};

/** A host that must not open; when it does all the same it is closed. `dirs()` may throw as well. */
function refused(t, base, dirs, { message, about = "", ...options } = {}) {
  let error;
  try {
    const host = localHost({ dataDir: path.join(base, "data"), persistentDirs: dirs(), ...options });
    after(t, () => host.close());
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error, `it was accepted: ${dirs} ${about}`);
  assert.ok(error instanceof HarnessFileError, `${dirs}: ${error?.stack}`);
  assert.equal(error.code, "FS_INVALID_OPTION", `${dirs}: ${error.message}`);
  if (message !== undefined) assert.match(error.message, message, String(dirs));
  return error;
}

/** A host that must open, and be closed. */
function accepted(t, base, persistentDirs, options = {}) {
  const host = localHost({ dataDir: path.join(base, "data"), persistentDirs, ...options });
  after(t, () => host.close());
  return host;
}

function folder(base, name) {
  const made = path.join(base, name);
  fs.mkdirSync(made, { recursive: true });
  return made;
}

test("a harnessDir is a path below /persistent", (t) => {
  const base = tempDir(t);
  const source = folder(base, "source");
  const bad = [
    "",
    "/",
    "/persistent",
    "/persistent/",
    "/persistent/trailing/",
    "/session/x",
    "/artifacts/x",
    "/persistently/x",
    "persistent/x",
    "/persistent/../x",
    "/persistent/a/../b",
    "/persistent/a\\b",
    "/persistent/nul\0",
    "/persistent/line\nend",
    `/persistent/${"x".repeat(256)}`,
    "/persistent/\ud800",
    "/persistent/cafe\u0301",
    undefined,
    null,
    7,
    {},
    ["/persistent/a"],
  ];
  for (const harnessDir of bad) {
    refused(t, base, () => [localDir({ harnessDir, sourceDir: source })], { about: JSON.stringify(harnessDir) });
    refused(t, base, () => [customDir({ harnessDir, load, store })], { about: JSON.stringify(harnessDir) });
  }
  const fine = [
    "/persistent/a",
    "/persistent/b/c/d",
    "/persistent/constructor",
    "/persistent/caf\u00e9",
    "/persistent/.x",
  ];
  accepted(
    t,
    base,
    fine.map((harnessDir) => customDir({ harnessDir, load, store })),
  );
});

test("dirs do not overlap", (t) => {
  const base = tempDir(t);
  const dir = (harnessDir) => customDir({ harnessDir, load, store });
  for (const pair of [
    ["/persistent/a", "/persistent/a"],
    ["/persistent/a", "/persistent/a/b"],
    ["/persistent/a/b/c", "/persistent/a"],
    ["/persistent/a/b", "/persistent/x", "/persistent/a/b/c/d"],
  ]) {
    const error = refused(t, base, () => pair.map(dir));
    assert.ok(
      pair.some((each) => error.message.includes(each)),
      `it says which: ${error.message}`,
    );
  }
  accepted(t, base, ["/persistent/a/b", "/persistent/a/bc", "/persistent/a-", "/persistent/ab"].map(dir));
});

test("persistentDirs holds what localDir and customDir made", (t) => {
  const base = tempDir(t);
  for (const persistentDirs of ["x", 7, {}, { 0: "x" }, null, true, new Set()]) refused(t, base, () => persistentDirs);
  const plain = { harnessDir: "/persistent/user", load, store };
  for (const each of [plain, null, undefined, 7, "/persistent/user", { ...plain, commit: "manual" }, projectDir("x")])
    refused(t, base, () => [each]);
  assert.match(refused(t, base, () => [plain]).message, /customDir|localDir/, "the way out is named");
  accepted(t, base, []);
});

test("commit modes", (t) => {
  const base = tempDir(t);
  const sourceDir = folder(base, "source");
  for (const commit of ["always", "", null, true, 7, "After-Turn"]) {
    refused(t, base, () => [localDir({ harnessDir: "/persistent/a", sourceDir, commit })]);
    refused(t, base, () => [customDir({ harnessDir: "/persistent/a", load, store, commit })]);
  }
  for (const commit of ["after-turn", "manual", "read-only", undefined])
    accepted(t, tempDir(t), [localDir({ harnessDir: "/persistent/a", sourceDir, commit })]);
});

test("both shapes of callbacks are checked, and not mixed", () => {
  const harnessDir = "/persistent/user";
  const bad = {
    nothing: {},
    "store alone": { store },
    "list alone": { list },
    "read alone": { read },
    "no store": { load },
    "no write, no delete": { list, read },
    "no delete": { list, read, write },
    "no write": { list, read, delete: remove },
    "both shapes": { load, store, list, read, write, delete: remove },
    "load with write": { load, store, write },
    "list with store": { list, read, write, delete: remove, store },
    "manual without store": { load, commit: "manual" },
    "load is no function": { load: {}, store },
    "store is no function": { load, store: "x" },
    "list is no function": { list: [], read, write, delete: remove },
    "delete is no function": { list, read, write, delete: true },
    "scope is no function": { load, store, scope: "user" },
  };
  for (const [what, callbacks] of Object.entries(bad)) {
    assert.throws(
      () => customDir({ harnessDir, ...callbacks }),
      (error) => error instanceof HarnessFileError && error.code === "FS_INVALID_OPTION",
      what,
    );
  }
  for (const options of [undefined, null, 7, "x"]) {
    assert.throws(() => customDir(options), { code: "FS_INVALID_OPTION" });
    assert.throws(() => localDir(options), { code: "FS_INVALID_OPTION" });
  }
  for (const callbacks of [
    { load, store },
    { load, commit: "read-only" },
    { list, read, commit: "read-only" },
    { list, read, write, delete: remove, scope: () => "x" },
  ])
    assert.equal(customDir({ harnessDir, ...callbacks }).harnessDir, harnessDir);
});

test("a sourceDir is a string, a projectDir or a function", (t) => {
  const base = tempDir(t);
  for (const sourceDir of [undefined, null, 7, {}, [], "", "nul\0", "a/../../b", "..", "../outside"])
    refused(t, base, () => [localDir({ harnessDir: "/persistent/a", sourceDir })]);
  for (const bad of [undefined, null, 7, {}, "", "..", "../x", "a/../../x", "nul\0"])
    refused(t, base, () => [localDir({ harnessDir: "/persistent/a", sourceDir: projectDir(bad) })], {
      projectRoot: base,
    });
});

test("a relative source is below dataDir, and not where the host keeps its own", async (t) => {
  const base = tempDir(t);
  for (const sourceDir of [
    ".",
    "sessions",
    "sessions/x",
    "trash",
    "trash/x",
    "harness.db",
    "harness.db-wal",
    "harness.db/x",
    "./sessions/x",
  ])
    refused(t, base, () => [localDir({ harnessDir: "/persistent/a", sourceDir })]);
  const h = await withDirs(t, [localDir({ harnessDir: "/persistent/user", sourceDir: "memories/user" })], { base });
  await h.files.write("/persistent/user/a.txt", "a");
  assert.equal(fs.readFileSync(path.join(h.dataDir, "memories/user/a.txt"), "utf8"), "a");
});

test("a projectDir is below projectRoot", async (t) => {
  const base = tempDir(t);
  const projectRoot = folder(base, "project");
  fs.mkdirSync(path.join(projectRoot, "docs"));
  fs.writeFileSync(path.join(projectRoot, "docs/guide.md"), "guide");
  const h = await withDirs(t, [localDir({ harnessDir: "/persistent/docs", sourceDir: projectDir("./docs") })], {
    base,
    projectRoot,
  });
  assert.equal((await h.files.read("/persistent/docs/guide.md")).text(), "guide");
  await h.files.write("/persistent/docs/new.md", "new");
  assert.equal(fs.readFileSync(path.join(projectRoot, "docs/new.md"), "utf8"), "new");
  // The default project root is where the program runs; dataDir is inside it by default.
  refused(t, base, () => [localDir({ harnessDir: "/persistent/all", sourceDir: projectDir(".") })], {
    projectRoot: base,
    dataDir: path.join(base, "inside"),
  });
});

test("sources do not overlap each other, nor contain what the host keeps", (t) => {
  const base = tempDir(t);
  const one = folder(base, "one");
  const inner = folder(base, "one/inner");
  fs.symlinkSync(one, path.join(base, "link"));
  const two = (a, b) => () => [
    localDir({ harnessDir: "/persistent/a", sourceDir: a }),
    localDir({ harnessDir: "/persistent/b", sourceDir: b }),
  ];
  const link = path.join(base, "link");
  for (const pair of [
    [one, one],
    [one, inner],
    [inner, one],
    [one, `${one}/`],
    [one, path.join(base, "one/../one")],
    [one, link],
    [link, inner],
    [path.join(link, "inner"), one],
    ["data-below", "data-below"],
    ["data-below", "data-below/inner"],
    ["data-below", path.join(base, "data/data-below")],
    [path.join(one, "missing"), path.join(one, "missing/too")],
  ])
    refused(t, base, two(...pair));
  const dataDir = path.join(base, "data");
  folder(base, "data/sessions/test");
  fs.symlinkSync(dataDir, path.join(base, "to-data"));
  for (const sourceDir of [
    dataDir,
    base,
    path.join(base, "to-data"),
    path.join(dataDir, "sessions"),
    path.join(dataDir, "sessions/test"),
    path.join(base, "to-data/sessions/test"),
    "/",
  ])
    refused(t, base, () => [localDir({ harnessDir: "/persistent/a", sourceDir })]);
  assert.deepEqual(fs.readdirSync(one), ["inner"], "nothing was made in a source that was refused");
  accepted(t, base, two(one, folder(base, "one-more"))());
});

test("sources that a function gives are looked at before anything is read", async (t) => {
  const base = tempDir(t);
  const one = folder(base, "one");
  fs.writeFileSync(path.join(one, "a.txt"), "a");
  const inner = folder(base, "one/inner");
  const bad = {
    "inside another dir's": () => inner,
    "the same as another dir's": () => one,
    dataDir: () => path.join(base, "data"),
    "above dataDir": () => base,
    "in sessions/": () => path.join(base, "data/sessions"),
    "relative, outside": () => "../outside",
    "relative, reserved": () => "sessions/x",
    "no string": () => 7,
    nothing: () => undefined,
    empty: () => "",
    "a promise": async () => one,
  };
  for (const [what, sourceDir] of Object.entries(bad)) {
    await t.test(what, async (inner_) => {
      const h = await withDirs(
        inner_,
        [
          localDir({ harnessDir: "/persistent/a", sourceDir: one }),
          localDir({ harnessDir: "/persistent/b", sourceDir }),
        ],
        { base, sessionId: what.replace(/\W/g, "-") },
      );
      await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
      await rejectsWith(h.files.list("/persistent/b"), "FS_LOAD_FAILED");
      assertHolds(filesOf(h.roots.persistent["/persistent/b"]), {});
      assert.equal((await h.main.status()).state, "idle");
      await h.close();
    });
  }
});

test("a function that throws: the load fails with its error as the cause", async (t) => {
  const failure = new Error("no user");
  const sourceDir = () => {
    throw failure;
  };
  const h = await withDirs(t, [localDir({ harnessDir: "/persistent/user", sourceDir })]);
  const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  assert.equal(error.cause, failure);
});

test("links in sources: below dataDir and projectRoot none, an absolute source as written", async (t) => {
  const base = tempDir(t);
  const elsewhere = folder(base, "elsewhere/inner");
  fs.writeFileSync(path.join(elsewhere, "secret.txt"), "secret");
  folder(base, "data");
  const projectRoot = folder(base, "project");
  for (const at of [path.join(base, "data"), projectRoot]) {
    fs.symlinkSync(path.join(base, "elsewhere"), path.join(at, "out"));
    folder(at, "real");
    fs.symlinkSync("real", path.join(at, "inside"));
  }
  for (const make of [(name) => name, (name) => projectDir(name)]) {
    for (const name of ["out", "out/inner", "inside"]) {
      await t.test(`${typeof make(name)} ${name}`, async (inner) => {
        const dirs = () => [localDir({ harnessDir: "/persistent/user", sourceDir: make(name) })];
        let h;
        try {
          h = await withDirs(inner, dirs(), { base, projectRoot });
        } catch (error) {
          assert.equal(error.code, "FS_INVALID_OPTION", error.stack);
          return;
        }
        await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
        await rejectsWith(h.files.write("/persistent/user/x.txt", "x"), "FS_LOAD_FAILED");
        assertHolds(filesOf(h.roots.persistent["/persistent/user"]), {});
        await h.close();
      });
    }
  }
  assert.deepEqual(fs.readdirSync(elsewhere), ["secret.txt"]);
  fs.symlinkSync(elsewhere, path.join(base, "absolute-link"));
  const h = await withDirs(t, [
    localDir({ harnessDir: "/persistent/user", sourceDir: path.join(base, "absolute-link") }),
  ]);
  assert.equal((await h.files.read("/persistent/user/secret.txt")).text(), "secret");
});

test("a source that is a file, or a FIFO, is no folder", async (t) => {
  const base = tempDir(t);
  fs.writeFileSync(path.join(base, "file"), "x");
  const dirs = () => [localDir({ harnessDir: "/persistent/user", sourceDir: path.join(base, "file") })];
  let h;
  try {
    h = await withDirs(t, dirs(), { base });
  } catch (error) {
    assert.equal(error.code, "FS_INVALID_OPTION", error.stack);
    return;
  }
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  assert.equal(fs.readFileSync(path.join(base, "file"), "utf8"), "x");
});

test("a missing source is an empty dir at first; loading does not make it", async (t) => {
  const base = tempDir(t);
  const source = path.join(base, "not/there/yet");
  const h = await withDirs(t, [localDir({ harnessDir: "/persistent/user", sourceDir: source })], { base });
  assert.deepEqual(await h.files.list("/persistent/user"), []);
  await (await h.main.beginTurn()).finish();
  assert.ok(!fs.existsSync(path.join(base, "not")));
  await h.files.write("/persistent/user/a.txt", "a");
  assert.equal(fs.readFileSync(path.join(source, "a.txt"), "utf8"), "a");
});

test("a path under /persistent that no dir covers is refused", async (t) => {
  const base = tempDir(t);
  const h = await withDirs(t, [customDir({ harnessDir: "/persistent/a/b", load, store })], { base });
  for (const name of [
    "/persistent/x",
    "/persistent/x/y.txt",
    "/persistent/a/x.txt",
    "/persistent/a/bc/x.txt",
    "/persistent/b/x.txt",
    "/persistent/A/b/x.txt",
  ]) {
    const expected = { reason: "undeclared_persistent_dir" };
    await rejectsWith(h.files.write(name, "lost"), "FS_SANDBOX_DENIED", expected);
    await rejectsWith(h.files.writeJSON(name, {}), "FS_SANDBOX_DENIED", expected);
    const turn = await h.main.beginTurn();
    await rejectsWith(turn.files.write(name, "lost"), "FS_SANDBOX_DENIED", expected);
    await turn.abort();
  }
  await rejectsWith(h.files.write("/persistent/a", "x"), "FS_SANDBOX_DENIED");
  await rejectsWith(h.files.write("/persistent/a/b", "x"), "FS_SANDBOX_DENIED");
  await h.files.write("/persistent/a/b/x.txt", "kept");
  assert.deepEqual(
    (await h.files.list("/persistent", { recursive: true })).map((entry) => `${entry.kind} ${entry.path}`),
    ["directory /persistent/a", "directory /persistent/a/b", "file /persistent/a/b/x.txt"],
  );
});

test("without dirs: not configured, and every call says so", async (t) => {
  const h = await withDirs(t, []);
  assert.deepEqual(await h.persistence.pending(), []);
  assert.deepEqual(await h.persistence.conflicts(), []);
  assert.deepEqual(await h.persistence.commit(), { status: "not-configured" });
  assert.deepEqual((await (await h.main.beginTurn()).finish()).persistence, { status: "not-configured" });
  assert.deepEqual(h.main.hostPaths().persistent, {});
  await rejectsWith(h.persistence.discard({ harnessDirs: ["/persistent/none"] }), "FS_INVALID_OPTION");
});

test("hostPaths names the folder of each dir, and loads nothing", async (t) => {
  let loads = 0;
  const counted = async () => {
    loads++;
    return {};
  };
  const harnessDirs = ["/persistent/a/b", "/persistent/c", "/persistent/caf\u00e9"];
  const h = await withDirs(
    t,
    harnessDirs.map((harnessDir) => customDir({ harnessDir, load: counted, store })),
  );
  const { persistent } = h.main.hostPaths();
  assert.deepEqual(Object.keys(persistent).sort(), harnessDirs.sort());
  assert.equal(new Set(Object.values(persistent)).size, 3);
  for (const real of Object.values(persistent)) assert.ok(fs.statSync(real).isDirectory());
  assert.equal(loads, 0);
});

test("two dirs do not share a place in a store, as far as that is known at start", (t) => {
  const base = tempDir(t);
  const client = { send: async () => ({}) };
  const pool = { connect: async () => {} };
  const s3 = (prefix, options) => (harnessDir) =>
    s3Dir({ client, bucket: "bucket", prefix, harnessDir, commit: "read-only", ...options });
  const postgres = (scope, options) => (harnessDir) => postgresDir({ pool, scope, harnessDir, ...options });
  const both = ([one, two]) => [one("/persistent/one"), two("/persistent/two")];
  const message = /\/persistent\/one and \/persistent\/two overlaps/;
  for (const pair of [
    [s3("users/"), s3("users/")],
    [s3("users/"), s3("users/ann/")],
    [s3("users/ann/"), s3("users/")],
    [postgres("ann"), postgres("ann")],
  ])
    refused(t, base, () => both(pair), { message });
  for (const pair of [
    [s3("users/1/"), s3("users/10/")],
    [s3("users/"), s3("users/", { bucket: "other" })],
    [s3("users/"), s3("users/", { client: { send: client.send } })],
    [s3("users/"), s3(() => "users/")],
    [postgres("ann"), postgres("ann/b")],
    [postgres("ann"), postgres("ann", { table: "others" })],
    [postgres("ann"), postgres("ann", { pool: { connect: pool.connect } })],
    [postgres("ann"), postgres(() => "ann")],
    [postgres("users/"), s3("users/")],
  ])
    accepted(t, base, both(pair));
});
