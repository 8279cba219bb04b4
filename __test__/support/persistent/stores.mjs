// Stores to put under Persistent Dirs. Each is opened from a spec that is JSON, so that a child can open the same one:
//   map     load/store, naive: no cursor, takes what it is given
//   cursor  load/store: refuses a commit when it changed since the cursor, and knows the commits that it has applied
//   files   list/read/write/delete: versions, compared with ifMatch; lists folder by folder
//   plain   list/read/write/delete without versions; lists all at once
//   local   localDir
//
// A store is { kind, spec, atomic, detects, faults, calls, dir(options), read(user), write(path, content, user), remove(path, user),
// fail(k, when) }. `write` and `remove` are another program's. `detects`: a change of another program in the midst of a turn is
// noticed by the commit. `faults`: what `fail` can do. `fail(k, when)` makes the k-th call of the next commit fail, before or
// after it was applied; it gives a function that makes the store well again. `calls`: what was asked of it, where that is seen.
import fs from "node:fs";
import path from "node:path";
import { PersistentDirConflict, customDir, localDir } from "@little-stack/files";
import { collect } from "../content.mjs";
import { tempDir } from "../host.mjs";
import { Backing } from "./backing.mjs";

/** What a store of the tests throws; a test finds it as the `cause`. */
export class StoreFailure extends Error {
  name = "StoreFailure";
}

export const KINDS = ["local", "map", "cursor", "files", "plain"];

/** A new, empty store, removed after the test. */
export const newStore = (kind) => (t) => openStore({ kind, folder: path.join(tempDir(t), "store") });

export function openStore(spec) {
  return spec.kind === "local" ? new LocalStore(spec) : new CallbackStore(spec);
}

const userOf = (ctx) => ctx?.extraBody?.user ?? "shared";
const turnOfTheLoop = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

class CallbackStore {
  /** The reasons why the next load fails, one after the other. */
  failLoads = [];
  calls = [];
  /** Called in the midst of each call with its record; may return a promise. */
  onCall = undefined;
  #fault;
  #backings = new Map();

  constructor(spec) {
    this.spec = spec;
    this.kind = spec.kind;
    this.atomic = this.kind === "map" || this.kind === "cursor";
    this.detects = this.kind !== "map";
    this.faults = ["before", "after"];
  }

  #of(user) {
    if (!this.#backings.has(user)) this.#backings.set(user, new Backing(path.join(this.spec.folder, user)));
    return this.#backings.get(user);
  }

  read(user = "shared") {
    return this.#of(user).read();
  }
  write(name, content, user = "shared") {
    this.#of(user).change([[name, Buffer.from(content)]]);
  }
  remove(name, user = "shared") {
    this.#of(user).change([[name]]);
  }

  fail(k, when) {
    const fault = { left: k, when };
    this.#fault = fault;
    return () => {
      if (this.#fault === fault) this.#fault = undefined;
    };
  }

  get commitCalls() {
    return this.calls.filter(({ call }) => ["store", "write", "delete"].includes(call));
  }

  /** `byUser`: another `extraBody.user` is another store, which only a `localDir` has to be told. `scope: false`: none given. */
  dir({ harnessDir, commit, scope = userOf, ...more }) {
    delete more.byUser;
    const shape = this.atomic
      ? { load: (ctx) => this.#load(ctx), ...(commit !== "read-only" && { store: (ctx) => this.#store(ctx) }) }
      : {
          list: (ctx) => this.#list(ctx),
          read: (ctx) => this.#read(ctx),
          ...(commit !== "read-only" && { write: (ctx) => this.#write(ctx), delete: (ctx) => this.#delete(ctx) }),
        };
    return customDir({ harnessDir, ...(commit && { commit }), ...(scope && { scope }), ...shape, ...more });
  }

  async #seen(call, ctx, more = {}) {
    const record = { call, user: userOf(ctx), sessionId: ctx.sessionId, harnessDir: ctx.harnessDir, ...more };
    this.calls.push(record);
    await turnOfTheLoop();
    await this.onCall?.(record, ctx);
  }

  async #loading(call, ctx, more) {
    await this.#seen(call, ctx, more);
    const failure = this.failLoads.shift();
    if (failure !== undefined) throw failure;
  }

  /** Applies a change of a commit, or fails before or after that. */
  async #committing(call, ctx, more, apply) {
    await this.#seen(call, ctx, more);
    const fault = this.#fault;
    const due = fault !== undefined && --fault.left === 0 ? fault.when : undefined;
    if (due) this.#fault = undefined;
    if (due === "kill-before") process.kill(process.pid, "SIGKILL");
    if (due === "before") throw new StoreFailure("the store is down");
    const result = apply();
    if (due === "kill-after") process.kill(process.pid, "SIGKILL");
    await turnOfTheLoop();
    if (due === "after") throw new StoreFailure("the store's answer is lost");
    return result;
  }

  async #load(ctx) {
    await this.#loading("load", ctx);
    const backing = this.#of(userOf(ctx));
    const cursor = backing.revision;
    const held = backing.read();
    if (this.kind === "map") {
      const record = Object.create(null);
      for (const [name, bytes] of held) record[name] = bytes;
      return record;
    }
    const files = (async function* () {
      for (const [name, bytes] of held) yield [name, bytes.length > 1 << 20 ? new Blob([bytes]).stream() : bytes];
    })();
    return { files, cursor };
  }

  async #store(ctx) {
    const { changes, cursor, commitId } = ctx;
    const backing = this.#of(userOf(ctx));
    const contents = await contentsOf(changes);
    const more = { commitId, cursor, paths: changes.entries.map((entry) => entry.path) };
    return this.#committing("store", ctx, more, () => {
      if (this.kind === "map") {
        backing.change(contents, commitId);
        return undefined;
      }
      const applied = backing.revisionOf(commitId);
      if (applied !== undefined) return { cursor: applied };
      if (cursor !== backing.revision) throw new PersistentDirConflict(backing.since(cursor ?? 0));
      return { cursor: backing.change(contents, commitId) };
    });
  }

  async #list(ctx) {
    await this.#loading("list", ctx, { path: ctx.path });
    const versions = this.#of(userOf(ctx)).versions();
    if (this.kind === "plain") return [...versions.keys()].map((name) => ({ path: name, kind: "file" }));
    const below = ctx.path === "" ? "" : `${ctx.path}/`;
    const found = new Map();
    for (const [name, { version }] of versions) {
      if (!name.startsWith(below)) continue;
      const [first, ...rest] = name.slice(below.length).split("/");
      if (rest.length > 0) found.set(below + first, { path: below + first, kind: "directory" });
      else found.set(name, { path: name, kind: "file", version });
    }
    return [...found.values()];
  }

  async #read(ctx) {
    await this.#loading("read", ctx, { path: ctx.path });
    const bytes = this.#of(userOf(ctx)).bytesOf(ctx.path);
    if (bytes === undefined) throw new StoreFailure("no such file in the store");
    if (this.kind === "plain") return new Blob([bytes]);
    return bytes.length > 1 << 20 ? new Blob([bytes]).stream() : bytes;
  }

  async #write(ctx) {
    const bytes = await wholeOf(
      () => ctx.content,
      () => ctx.open(),
    );
    return this.#committing("write", ctx, { path: ctx.path, ifMatch: ctx.ifMatch }, () => {
      this.#compare(ctx);
      const revision = this.#of(userOf(ctx)).change([[ctx.path, bytes]]);
      return this.kind === "files" ? { version: `v${revision}` } : undefined;
    });
  }

  async #delete(ctx) {
    return this.#committing("delete", ctx, { path: ctx.path, ifMatch: ctx.ifMatch }, () => {
      this.#compare(ctx);
      this.#of(userOf(ctx)).change([[ctx.path]]);
    });
  }

  #compare(ctx) {
    if (this.kind !== "files") return;
    const version = this.#of(userOf(ctx)).versions().get(ctx.path)?.version;
    if (version !== ctx.ifMatch) throw new PersistentDirConflict([ctx.path]);
  }
}

/** From the records, as most stores will; a change set that is too large for them is read entry by entry. */
async function contentsOf(changes) {
  const deleted = changes.deleted.map((name) => [name]);
  try {
    return [...deleted, ...Object.entries(changes.created), ...Object.entries(changes.updated)];
  } catch (error) {
    if (error.code !== "FS_TOO_LARGE") throw error;
  }
  const contents = deleted;
  for (const { path: name, change } of changes.entries)
    if (change !== "deleted") contents.push([name, await collect(changes.open(name))]);
  return contents;
}

async function wholeOf(content, open) {
  try {
    return content();
  } catch (error) {
    if (error.code !== "FS_TOO_LARGE") throw error;
    return collect(open());
  }
}

const RESERVED = ".little-harness";

class LocalStore {
  atomic = true;
  detects = true;
  faults = ["before"];
  kind = "local";

  constructor(spec) {
    this.spec = spec;
    fs.mkdirSync(spec.folder, { recursive: true });
    this.source();
  }

  /** The folder of one user. */
  source(user = "shared") {
    const folder = path.join(this.spec.folder, user);
    if (!this.#away) fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  #away = false;

  read(user = "shared") {
    const held = new Map();
    const root = path.join(this.#away ? `${this.spec.folder}.away` : this.spec.folder, user);
    const walk = (folder, below) => {
      for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
        if (below === "" && entry.name === RESERVED) continue;
        const name = below + entry.name;
        if (entry.isDirectory()) walk(path.join(folder, entry.name), `${name}/`);
        else if (entry.isFile()) held.set(name, fs.readFileSync(path.join(folder, entry.name)));
      }
    };
    if (fs.existsSync(root)) walk(root, "");
    return new Map([...held].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  write(name, content, user = "shared") {
    const at = path.join(this.source(user), name);
    fs.mkdirSync(path.dirname(at), { recursive: true });
    fs.writeFileSync(at, content);
  }

  /** Folders that become empty go too, as a store without folders has it. */
  remove(name, user = "shared") {
    const root = this.source(user);
    fs.rmSync(path.join(root, name));
    for (let folder = path.dirname(path.join(root, name)); folder !== root; folder = path.dirname(folder)) {
      if (fs.readdirSync(folder).length > 0) break;
      fs.rmdirSync(folder);
    }
  }

  /** Before it is applied is all that can be had from outside: the folders are gone, as an unmounted volume is. */
  fail(_k, when) {
    if (when !== "before") throw new Error(`a localDir cannot fail ${when}`);
    const away = `${this.spec.folder}.away`;
    fs.renameSync(this.spec.folder, away);
    this.#away = true;
    return () => {
      if (!this.#away) return;
      fs.renameSync(away, this.spec.folder);
      this.#away = false;
    };
  }

  dir({ harnessDir, commit, byUser = false }) {
    const sourceDir = byUser
      ? ({ extraBody }) => path.join(this.spec.folder, extraBody?.user ?? "shared")
      : path.join(this.spec.folder, "shared");
    return localDir({ harnessDir, sourceDir, ...(commit && { commit }) });
  }
}
