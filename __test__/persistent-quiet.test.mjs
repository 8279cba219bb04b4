// No error, event, status or listing of Persistent Dirs shows where anything really is: not dataDir, not a source, and not what
// a callback's own error says. (Only the `cause` is the callback's error itself.)
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { test } from "node:test";
import { HarnessFileError, customDir, localDir } from "@little-stack/files";
import { tempDir } from "./support/host.mjs";
import { at, DIR, shell, withDirs } from "./support/persistent/session.mjs";
import { fifo, link, plant } from "./support/tree.mjs";

/** All text of a value, with what is hidden; of an error of a callback's only that it is there. */
function texts(value, callbacks) {
  const seen = new Set();
  const parts = [];
  const walk = (each) => {
    if (typeof each === "string") parts.push(each);
    if ((typeof each !== "object" && typeof each !== "function") || each === null || seen.has(each)) return;
    seen.add(each);
    if (callbacks.has(each) || each instanceof Uint8Array) return;
    for (const key of Reflect.ownKeys(each)) {
      parts.push(String(key));
      const descriptor = Object.getOwnPropertyDescriptor(each, key);
      walk(descriptor.get ? undefined : descriptor.value);
    }
    if (each instanceof Map) for (const pair of each) walk(pair);
  };
  walk(value);
  return parts;
}

/** Runs everything that can go wrong; gives all that was shown. */
async function everything(h, { break: spoil, mend }) {
  const shown = [];
  const keep = async (call) => {
    try {
      const value = await call();
      shown.push(value);
      return value;
    } catch (error) {
      assert.match(String(error.code), /^FS_/, inspect(error));
      shown.push(error);
      return undefined;
    }
  };
  const session = async () => {
    await keep(() => h.files.list("/persistent", { recursive: true }));
    for (const name of [
      "a.txt",
      "new.txt",
      "../x",
      "link",
      "fifo",
      "sub",
      "sub/a.txt/x",
      ".little-harness/x",
      "none",
    ]) {
      await keep(() => h.files.read(at(name)));
      await keep(() => h.files.write(at(name), "content"));
      await keep(() => h.files.stat(at(name)));
      await keep(() => h.files.remove(at(name)));
      await keep(() => h.persistence.resolve(at(name), "ours"));
      await keep(() => h.persistence.discard({ paths: [at(name)] }));
    }
    const turn = await keep(() => h.main.beginTurn());
    if (turn) {
      await keep(() => turn.files.write(at("a.txt"), "in a turn"));
      await keep(() => turn.files.write(at("b.txt"), "in a turn"));
      const finished = await keep(() => turn.finish());
      if (finished) await keep(() => finished.commitManual());
    }
    await keep(() => h.persistence.pending());
    await keep(() => h.persistence.commit());
    await keep(() => h.persistence.commit({ extraBody: { user: "another" } }));
    for (const conflict of (await keep(() => h.persistence.conflicts())) ?? []) {
      await keep(() => conflict.readTheirs());
      await keep(() => h.persistence.resolve(conflict.path, "theirs"));
    }
    await keep(() => h.main.status());
    await keep(() => h.persistence.discard({ harnessDirs: [DIR] }));
  };
  await session();
  for (const breaking of spoil) {
    const undo = await breaking();
    await session();
    await undo?.();
  }
  await mend?.();
  await session();
  return [...shown, ...h.events, ...h.failures];
}

function assertQuietOf(shown, secrets, callbacks = new Set()) {
  const errors = shown.filter((each) => each instanceof Error).length;
  assert.ok(errors > 20 && shown.length > 100, `${errors} errors of ${shown.length}`);
  for (const value of shown) {
    const all = [...texts(value, callbacks)];
    // What console.log shows of it, but for the causes.
    if (!(value instanceof Error) && !value?.failedCommits && !value?.persistence && !value?.error)
      all.push(inspect(value, { depth: 8, showHidden: true }));
    for (const text of all)
      for (const secret of secrets) assert.ok(!text.includes(secret), `"${secret}" is shown: ${text.slice(0, 800)}`);
  }
}

test("a localDir that vanishes, is a file, is full of links", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const source = path.join(base, "the-source");
  fs.mkdirSync(source);
  for (const name of ["a.txt", "sub/a.txt"]) shell.write(source, name, "base");
  const h = await withDirs(t, [localDir({ harnessDir: DIR, sourceDir: source })], { base });
  const shown = await everything(h, {
    break: [
      () => plant(h.checkout, { link: link(source), fifo: fifo(), "bad\\name": "x" }),
      () => {
        fs.renameSync(source, `${source}.away`);
        return () => fs.renameSync(`${source}.away`, source);
      },
      () => {
        fs.renameSync(source, `${source}.away`);
        fs.writeFileSync(source, "a file");
        return () => {
          fs.rmSync(source);
          fs.renameSync(`${source}.away`, source);
        };
      },
      () => shell.write(source, "a.txt", `theirs ${Math.random()}`),
      () => {
        fs.renameSync(h.checkout, `${h.checkout}.away`);
        return () => {
          fs.rmSync(h.checkout, { recursive: true, force: true });
          fs.renameSync(`${h.checkout}.away`, h.checkout);
        };
      },
      () => {
        fs.rmSync(path.join(source, ".little-harness"), { recursive: true, force: true });
        fs.writeFileSync(path.join(source, ".little-harness"), "a file in its place");
      },
    ],
  });
  assertQuietOf(shown, [base, fs.realpathSync(base), path.basename(base), "the-source", "sessions/test"]);
});

test("a sourceDir function that gives nonsense, or throws with a path", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const source = path.join(base, "the-source");
  fs.mkdirSync(source);
  shell.write(source, "a.txt", "base");
  const secret = "/srv/tenants/acme-77";
  const failures = [new Error(`cannot find ${secret}`), new HarnessFileError("FS_NOT_FOUND", `cannot find ${secret}`)];
  let given = source;
  let calls = 0;
  const sourceDir = () => {
    if (given === undefined) throw failures[calls++ % 2];
    return given;
  };
  const h = await withDirs(t, [localDir({ harnessDir: DIR, sourceDir })], { base });
  const shown = await everything(h, {
    break: [undefined, path.join(base, "none"), base, path.join(base, "data"), "../x", 7].map((value) => () => {
      given = value;
      return () => {
        given = source;
      };
    }),
  });
  assertQuietOf(shown, [base, path.basename(base), "the-source", secret, "sessions/test"], new Set(failures));
});

test("callbacks whose errors hold paths and secrets", { timeout: 60_000 }, async (t) => {
  const base = tempDir(t);
  const secret = "/srv/tenants/acme-77/token-xyz";
  const callbacks = new Set();
  const failure = () => {
    const text = `ENOENT: no such file or directory, open '${secret}'`;
    const foreign = Object.assign(new Error(text), { code: "ENOENT", path: secret });
    const error = callbacks.size % 2 === 0 ? foreign : new HarnessFileError("FS_NOT_FOUND", text, { path: secret });
    callbacks.add(error);
    return error;
  };
  const held = new Map([["a.txt", "base"]]);
  const broken = new Set();
  const dir = customDir({
    harnessDir: DIR,
    load: async () => {
      if (broken.has("load")) throw failure();
      return new Map(held);
    },
    store: async ({ changes }) => {
      if (broken.has("store")) throw failure();
      for (const [name, content] of Object.entries({ ...changes.created, ...changes.updated })) held.set(name, content);
      for (const name of changes.deleted) held.delete(name);
    },
  });
  const h = await withDirs(t, [dir], { base });
  const breaking = (what) => () => {
    broken.add(what);
    return () => broken.delete(what);
  };
  const shown = await everything(h, { break: [breaking("store"), breaking("load"), breaking("store")] });
  assert.ok(callbacks.size > 5);
  assertQuietOf(shown, [base, path.basename(base), secret, "acme-77", "sessions/test"], callbacks);
});
