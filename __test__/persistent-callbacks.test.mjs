// What the callbacks of a customDir may give and are given: those that were written for Little Harness work unchanged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Readable } from "node:stream";
import { PersistentDirConflict, customDir } from "@little-stack/files";
import { collect } from "./support/content.mjs";
import { rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  DIR,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
  withDirs,
} from "./support/persistent/session.mjs";
import { until } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const nothing = async () => {};
const loading = (load, more = {}) => customDir({ harnessDir: DIR, load, store: nothing, ...more });

// ── load ──

const bytes = (text) => new TextEncoder().encode(text);
const nullRecord = (entries) => Object.assign(Object.create(null), Object.fromEntries(entries));
async function* pairs() {
  yield ["a.txt", "a"];
  yield ["b/c.txt", bytes("c")];
}

test("what load may give", async (t) => {
  const wanted = { "a.txt": "a", "b/c.txt": "c" };
  const entries = [
    ["a.txt", "a"],
    ["b/c.txt", bytes("c")],
  ];
  const kinds = {
    "a record": () => Object.fromEntries(entries),
    "a record without prototype": () => nullRecord(entries),
    "a Map": () => new Map(entries),
    "files: a record": () => ({ files: Object.fromEntries(entries) }),
    "files: a Map, and a cursor": () => ({ files: new Map(entries), cursor: 1 }),
    "files: an array of pairs": () => ({ files: entries, cursor: { etag: "x" } }),
    "files: a generator": () => ({
      files: (function* generate() {
        yield* entries;
      })(),
    }),
    "files: an async generator": () => ({ files: pairs(), cursor: null }),
  };
  for (const [what, load] of Object.entries(kinds)) {
    await t.test(what, async (inner) => {
      const h = await withDirs(inner, [loading(async () => load())]);
      await inTurn(h.main);
      assertHolds(filesOf(h.checkout), wanted);
      assert.deepEqual(await pendingOf(h.main), []);
    });
  }
});

test("the contents of a Map and of pairs may be any FileContent", async (t) => {
  const contents = {
    text: "käse",
    bytes: bytes("käse"),
    buffer: bytes("käse").buffer,
    view: new DataView(bytes("käse").buffer),
    blob: new Blob(["käse"]),
    stream: new Blob(["käse"]).stream(),
    readable: Readable.from([Buffer.from("käse")]),
    generator: (async function* () {
      yield "kä";
      yield bytes("se");
    })(),
    empty: new Uint8Array(),
  };
  const h = await withDirs(t, [loading(async () => new Map(Object.entries(contents)))]);
  assert.equal((await h.files.read(at("text"))).text(), "käse");
  for (const name of Object.keys(contents))
    assert.equal((await h.files.read(at(name))).text(), name === "empty" ? "" : "käse", name);
});

test("a map with a file named files is a map", async (t) => {
  for (const content of ["x", bytes("x")]) {
    const h = await withDirs(t, [loading(async () => ({ files: content, cursor: "c" }))]);
    await h.files.list(DIR);
    assertHolds(filesOf(h.checkout), { files: "x", cursor: "c" });
    const map = await withDirs(t, [loading(async () => new Map([["files", new Blob(["x"])]]))]);
    await map.files.list(DIR);
    assertHolds(filesOf(map.checkout), { files: "x" });
  }
});

test("an inherited or odd key of a record is no file", async (t) => {
  const record = Object.create({ inherited: "x" });
  record.own = "own";
  Object.defineProperty(record, "__proto__", { value: "own too", enumerable: true });
  Object.defineProperty(record, "hidden", { value: "x", enumerable: false });
  const h = await withDirs(t, [loading(async () => record)]);
  await h.files.list(DIR);
  assertHolds(
    filesOf(h.checkout),
    new Map([
      ["own", "own"],
      ["__proto__", "own too"],
    ]),
  );
});

test("what load may not give: it fails whole, and names it", async (t) => {
  const good = ["good.txt", "x"];
  const bad = {
    nothing: undefined,
    null: null,
    "a string": "x",
    "a number": 7,
    "an array of names": { files: ["a"] },
    "a path that leaves": new Map([good, ["../x", "x"]]),
    "a path that leaves, inside": new Map([good, ["a/../../x", "x"]]),
    "an absolute path": new Map([good, ["/a", "x"]]),
    "an empty segment": new Map([good, ["a//b", "x"]]),
    "an empty path": new Map([good, ["", "x"]]),
    "a dot": new Map([good, [".", "x"]]),
    "a dot segment": new Map([good, ["a/./b", "x"]]),
    "a trailing slash": new Map([good, ["a/", "x"]]),
    "a backslash": new Map([good, ["a\\b", "x"]]),
    "a control character": new Map([good, ["a\nb", "x"]]),
    NUL: new Map([good, ["a\0", "x"]]),
    "a lone surrogate": new Map([good, ["\ud800", "x"]]),
    "a long segment": new Map([good, ["x".repeat(256), "x"]]),
    "a file below a file": new Map([good, ["a", "x"], ["a/b", "x"]]),
    "a file above a file": new Map([good, ["a/b", "x"], ["a", "x"]]),
    "a path twice": { files: [good, ["a", "x"], ["a", "y"]] },
    "a path that is no string": new Map([good, [7, "x"]]),
    "a content that is none": { good: "x", a: 7 },
    "a content of null": new Map([good, ["a", null]]),
    "an empty array as content": new Map([good, ["a", []]]),
    "a stream that fails": new Map([
      good,
      [
        "a",
        (async function* () {
          yield "x";
          throw new Error("broken source");
        })(),
      ],
    ]),
    "pairs that fail": {
      files: (async function* () {
        yield good;
        throw new Error("broken list");
      })(),
    },
    "a cursor with a cycle": (() => {
      const cursor = {};
      cursor.self = cursor;
      return { files: {}, cursor };
    })(),
    "a cursor that JSON cannot hold": { files: {}, cursor: 7n },
    "a cursor that is a function": { files: {}, cursor: () => {} },
  };
  for (const [what, given] of Object.entries(bad)) {
    await t.test(what, async (inner) => {
      let now = { "before.txt": "before" };
      const h = await withDirs(inner, [loading(async () => now)]);
      await inTurn(h.main);
      now = given;
      await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
      assertHolds(
        filesOf(h.checkout),
        { "before.txt": "before" },
        "the old checkout stays, nothing of the new is there",
      );
      assert.deepEqual(await pendingOf(h.main), []);
      now = { "after.txt": "after" };
      await inTurn(h.main);
      assertHolds(filesOf(h.checkout), { "after.txt": "after" });
    });
  }
});

test("load is given who asks", async (t) => {
  const seen = [];
  const load = async ({ extraBody, sessionId, harnessDir, abortSignal, ...rest }) => {
    seen.push([
      extraBody,
      sessionId,
      harnessDir,
      abortSignal === undefined || abortSignal instanceof AbortSignal,
      rest,
    ]);
    return {};
  };
  const h = await withDirs(t, [loading(load, { scope: () => "all" })]);
  await (await h.main.beginTurn({ extraBody: { user: 1 } })).abort();
  assert.deepEqual(seen.splice(0), [[{ user: 1 }, "test", DIR, true, {}]]);
  const fresh = await h.session("other", { extraBody: { user: 2 } });
  await fresh.files.list(DIR);
  assert.deepEqual(seen.splice(0), [[{ user: 2 }, "other", DIR, true, {}]]);
  const plain = await h.session("plain");
  await plain.files.list(DIR);
  assert.equal(seen[0][0], undefined);
});

// ── store ──

function recording(held = {}) {
  const calls = [];
  const state = { held: new Map(Object.entries(held)), calls, next: undefined, cursor: 0 };
  state.dir = (more = {}) =>
    customDir({
      harnessDir: DIR,
      load: async () => ({ files: new Map(state.held), cursor: state.cursor }),
      store: async (ctx) => {
        calls.push(ctx);
        if (state.next) return state.next(ctx);
        for (const [name, content] of Object.entries({ ...ctx.changes.created, ...ctx.changes.updated }))
          state.held.set(name, content);
        for (const name of ctx.changes.deleted) state.held.delete(name);
        return { cursor: ++state.cursor };
      },
      ...more,
    });
  return state;
}

test("what store is given", async (t) => {
  const state = recording({ "a.txt": "old a", "b.txt": "old b", "c/d.txt": "old d" });
  const h = await withDirs(t, [state.dir({ scope: () => "all" })]);
  await inTurn(
    h.main,
    async (files) => {
      await files.write(at("a.txt"), "new a");
      await files.remove(at("b.txt"));
      await files.write(at("new/e.txt"), "new e");
      await files.write(at("empty"), "");
    },
    { extraBody: { user: 1 } },
  );
  assert.equal(state.calls.length, 1);
  const { changes, cursor, commitId, extraBody, sessionId, harnessDir } = state.calls[0];
  assert.deepEqual([cursor, extraBody, sessionId, harnessDir], [0, { user: 1 }, "test", DIR]);
  assert.ok(typeof commitId === "string" && commitId.length >= 16);
  for (const record of [changes.created, changes.updated]) assert.equal(Object.getPrototypeOf(record), null);
  const shown = (record) =>
    Object.entries(record).map(([name, content]) => {
      assert.ok(content instanceof Uint8Array);
      return [name, Buffer.from(content).toString()];
    });
  assert.deepEqual(shown(changes.created), [
    ["empty", ""],
    ["new/e.txt", "new e"],
  ]);
  assert.deepEqual(shown(changes.updated), [["a.txt", "new a"]]);
  assert.deepEqual(changes.deleted, ["b.txt"]);
  const fact = (text) => ({ bytes: text.length, sha256: sha256(text) });
  assert.deepEqual(changes.entries, [
    { path: "a.txt", change: "updated", ...fact("new a"), base: fact("old a") },
    { path: "b.txt", change: "deleted", base: fact("old b") },
    { path: "empty", change: "created", ...fact("") },
    { path: "new/e.txt", change: "created", ...fact("new e") },
  ]);
});

test("change sets of odd names have no prototype to trip over", async (t) => {
  const state = recording();
  const h = await withDirs(t, [state.dir()]);
  const odd = ["__proto__", "constructor", "files", "hasOwnProperty", "then"];
  await inTurn(h.main, async (files) => {
    for (const name of odd) await files.write(at(name), name);
  });
  const { created } = state.calls[0].changes;
  assert.deepEqual(Object.keys(created).sort(), [...odd].sort());
  for (const name of odd) assert.equal(Buffer.from(created[name]).toString(), name);
  assert.equal(created.toString, undefined);
});

test("open gives each content as a stream, more than once; and nothing for what is not there", async (t) => {
  const state = recording();
  let opened;
  state.next = async ({ changes }) => {
    opened = [];
    for (const { path } of changes.entries)
      for (let round = 0; round < 2; round++) opened.push([path, (await collect(changes.open(path))).toString()]);
    await assert.rejects(async () => collect(changes.open("none.txt")), { code: "FS_NOT_FOUND" });
  };
  const h = await withDirs(t, [state.dir()]);
  assertLanded(
    (
      await inTurn(h.main, async (files) => {
        await files.write(at("a"), "one");
        await files.write(at("b/c"), "");
      })
    ).persistence,
    { created: 2 },
  );
  assert.deepEqual(opened, [
    ["a", "one"],
    ["a", "one"],
    ["b/c", ""],
    ["b/c", ""],
  ]);
});

test("contents of more than 64 MiB: the records refuse, so that nothing is skipped", { timeout: 60_000 }, async (t) => {
  const state = recording();
  const seen = {};
  state.next = async ({ changes }) => {
    for (const key of ["created", "updated"]) {
      try {
        seen[key] = Object.keys(changes[key]);
      } catch (error) {
        seen[key] = error.code;
      }
    }
    seen.deleted = changes.deleted;
    seen.streamed = 0;
    for await (const chunk of changes.open("big")) seen.streamed += chunk.length;
  };
  const h = await withDirs(t, [state.dir()]);
  const size = (64 << 20) + 1;
  await inTurn(h.main, (files) => files.write(at("big"), Buffer.alloc(size, "x")));
  assert.deepEqual(seen, { created: "FS_TOO_LARGE", updated: "FS_TOO_LARGE", deleted: [], streamed: size });
  await inTurn(h.main, async (files) => {
    await files.write(at("half"), Buffer.alloc(32 << 20, "x"));
    await files.write(at("other half"), Buffer.alloc(32 << 20, "x"));
    await files.write(at("big"), "small now");
  });
  assert.equal(seen.created, "FS_TOO_LARGE", "it is the sum that counts");
});

test("exactly 64 MiB still fit the records", { timeout: 60_000 }, async (t) => {
  const state = recording();
  let sum;
  state.next = async ({ changes }) => {
    sum = Object.values(changes.created).reduce((total, content) => total + content.length, 0);
  };
  const h = await withDirs(t, [state.dir()]);
  await inTurn(h.main, async (files) => {
    await files.write(at("a"), Buffer.alloc(60 << 20, "x"));
    await files.write(at("b"), Buffer.alloc(4 << 20, "x"));
  });
  assert.equal(sum, 64 << 20);
});

test("cursors go round as they are; one that is not returned is void, and a load precedes", async (t) => {
  for (const cursor of [0, "", "etag", false, null, [1, { deep: "x" }], { a: 1 }]) {
    const state = recording();
    state.cursor = cursor;
    const seen = [];
    state.next = async (ctx) => {
      seen.push(ctx.cursor);
      for (const [name, content] of Object.entries(ctx.changes.created)) state.held.set(name, content);
      return { cursor };
    };
    const h = await withDirs(t, [state.dir()]);
    await inTurn(h.main, (files) => files.write(at("a"), "a"));
    await h.files.write(at("b"), "b"); // with the cursor that store gave
    assert.deepEqual(seen, [cursor, cursor]);
    await h.close();
  }
  let loads = 0;
  const held = new Map();
  const cursors = [];
  const h = await withDirs(t, [
    customDir({
      harnessDir: DIR,
      load: async () => ({ files: new Map(held), cursor: ++loads }),
      store: async ({ changes, cursor }) => {
        cursors.push(cursor);
        for (const [name, content] of Object.entries(changes.created)) held.set(name, content);
      },
    }),
  ]);
  await inTurn(h.main, (files) => files.write(at("a"), "a"));
  await h.files.write(at("b"), "b");
  await h.files.write(at("c"), "c");
  assert.deepEqual(cursors, [1, 2, 3]);
});

test("a store without cursor: what another session of the dataDir committed meanwhile is seen, not overwritten", async (t) => {
  let loads = 0;
  const held = new Map([["shared", "base"]]);
  const load = async () => {
    loads++;
    return new Map(held);
  };
  const store = async ({ changes }) => {
    for (const [name, content] of Object.entries({ ...changes.created, ...changes.updated })) held.set(name, content);
    for (const name of changes.deleted) held.delete(name);
  };
  const h = await withDirs(t, [customDir({ harnessDir: DIR, load, store })]);
  const again = await h.again({ sessionId: "another" });
  const one = await h.main.beginTurn();
  const two = await again.main.beginTurn();
  await one.files.write(at("shared"), "one");
  await one.files.write(at("one"), "one");
  await two.files.write(at("shared"), "two");
  await two.files.write(at("two"), "two");
  assertLanded((await one.finish()).persistence);
  assert.equal(loads, 2, "nobody else has committed: no load before the commit");
  assertFailed((await two.finish()).persistence, "FS_CONFLICT");
  assert.equal(loads, 3);
  assertHolds(new Map([...held].map(([name, content]) => [name, Buffer.from(content)])), { shared: "one", one: "one" });
  assert.deepEqual(await conflictsOf(again.main, ["base", "one", "two"]), { shared: "base|two|one" });
  await again.main.persistence.resolve(at("shared"), "ours");
  assertLanded(await again.main.persistence.commit());
  assert.deepEqual([...held.keys()].sort(), ["one", "shared", "two"]);
  assert.equal(Buffer.from(held.get("shared")).toString(), "two");
});

test("what store may not give: the commit failed, its outcome is read from the store", async (t) => {
  const circular = {};
  circular.self = circular;
  for (const given of [{ cursor: 7n }, { cursor: circular }, { cursor: () => {} }]) {
    const state = recording();
    const h = await withDirs(t, [state.dir()]);
    state.next = async ({ changes }) => {
      for (const [name, content] of Object.entries(changes.created)) state.held.set(name, content);
      return given;
    };
    const finished = await inTurn(h.main, (files) => files.write(at("a"), "a"));
    const error = assertFailed(finished.persistence, "FS_COMMIT_FAILED");
    assert.match(error.message, /took the changes/);
    assert.deepEqual(finished.persistence.commits[0].changes, { created: 1, updated: 0, deleted: 0 });
    state.next = undefined;
    const before = state.calls.length;
    assertLanded(await h.persistence.commit());
    assert.equal(state.calls.length, before, "it had landed: nothing is sent again");
    assert.deepEqual(await pendingOf(h.main), []);
    await h.close();
  }
});

test("anything that store throws is a failed commit with that as the cause", async (t) => {
  for (const thrown of [new TypeError("a bug"), "a string", undefined, null, { code: "E" }]) {
    const state = recording();
    const h = await withDirs(t, [state.dir()]);
    state.next = async () => {
      throw thrown;
    };
    const error = assertFailed(
      (await inTurn(h.main, (files) => files.write(at("a"), "a"))).persistence,
      "FS_COMMIT_FAILED",
    );
    assert.equal(error.cause, thrown);
    state.next = undefined;
    assertLanded(await h.persistence.commit(), { created: 1 });
    await h.close();
  }
});

test("callbacks may throw at once, or return no promise", async (t) => {
  const held = new Map([["a", "a"]]);
  let fails = false;
  const failure = new Error("at once");
  const h = await withDirs(t, [
    customDir({
      harnessDir: DIR,
      load: () => {
        if (fails) throw failure;
        return new Map(held);
      },
      store: ({ changes }) => {
        for (const [name, content] of Object.entries(changes.created)) held.set(name, content);
      },
    }),
  ]);
  assertLanded((await inTurn(h.main, (files) => files.write(at("b"), "b"))).persistence, { created: 1 });
  fails = true;
  assert.equal((await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED")).cause, failure);
});

test("callbacks keep their `this`", async (t) => {
  const backend = {
    harnessDir: DIR,
    held: new Map([["a", "a"]]),
    async load() {
      return new Map(this.held);
    },
    async store({ changes }) {
      for (const [name, content] of Object.entries(changes.created)) this.held.set(name, content);
    },
  };
  const h = await withDirs(t, [customDir(backend)]);
  assertLanded((await inTurn(h.main, (files) => files.write(at("b"), "b"))).persistence, { created: 1 });
  assert.equal(backend.held.has("b"), true);
});

// ── Conflicts that a store tells ──

/** Tells of a conflict so many times, with `meanwhile` happening to the store each time. */
function conflicting(state, times, meanwhile, make = (paths) => new PersistentDirConflict(paths)) {
  let told = 0;
  const inner = state.next;
  state.next = async (ctx) => {
    if (told < times) {
      told++;
      throw make(meanwhile(ctx) ?? []);
    }
    state.next = inner;
    for (const [name, content] of Object.entries({ ...ctx.changes.created, ...ctx.changes.updated }))
      state.held.set(name, content);
    return { cursor: ++state.cursor };
  };
  return () => told;
}

test("a store tells of other files that changed: loaded, merged, and sent again with the new cursor", async (t) => {
  const state = recording({ "a.txt": "old", "b.txt": "old" });
  const h = await withDirs(t, [state.dir()]);
  conflicting(state, 2, () => {
    state.held.set("b.txt", `theirs ${state.cursor}`);
    state.cursor += 10;
    return ["b.txt"];
  });
  const finished = await inTurn(h.main, (files) => files.write(at("a.txt"), "ours"));
  assertLanded(finished.persistence, { updated: 1 });
  assert.deepEqual(
    state.calls.map(({ cursor }) => cursor),
    [0, 10, 20],
  );
  assert.equal(new Set(state.calls.map(({ commitId }) => commitId)).size, 1);
  assertHolds(filesOf(h.checkout), { "a.txt": "ours", "b.txt": "theirs 10" });
});

test("a store that tells of a conflict for ever: the commit fails, and stays pending", async (t) => {
  const state = recording({ "a.txt": "old" });
  const h = await withDirs(t, [state.dir()]);
  const told = conflicting(state, Infinity, () => ["a.txt"]);
  const finished = await inTurn(h.main, (files) => files.write(at("a.txt"), "ours"));
  assert.equal(finished.persistence.status, "failed");
  assert.equal(finished.persistence.failedCommits[0].error.code, "FS_CONFLICT");
  assert.equal(told(), 3, "attempts");
  assert.deepEqual(await pendingOf(h.main), ["updated a.txt"]);
  state.next = undefined;
  assertLanded(await h.persistence.commit(), { updated: 1 });
});

test("PersistentDirConflict of another copy of the package counts as well", async (t) => {
  for (const make of [
    (paths) => Object.assign(new Error("changed"), { name: "PersistentDirConflict", paths }),
    (paths) => new PersistentDirConflict(paths, { cause: new Error("412") }),
  ]) {
    const state = recording({ "a.txt": "old" });
    const h = await withDirs(t, [state.dir()]);
    conflicting(
      state,
      1,
      () => {
        state.held.set("a.txt", "theirs");
        return ["a.txt"];
      },
      make,
    );
    const finished = await inTurn(h.main, (files) => files.write(at("a.txt"), "ours"));
    assertFailed(finished.persistence, "FS_CONFLICT");
    assert.deepEqual(await conflictsOf(h.main, ["old", "ours", "theirs"]), { "a.txt": "old|ours|theirs" });
    await h.close();
  }
  const error = new PersistentDirConflict(["a", "b"], { cause: "x" });
  assert.ok(error instanceof Error);
  assert.deepEqual([error.name, error.paths, error.cause], ["PersistentDirConflict", ["a", "b"], "x"]);
});

// ── list, read, write, delete ──

/** A store of files in memory, flat, with everything that was asked of it. */
function filing(held = {}, { versions = true, answers = true } = {}) {
  const state = { calls: [], held: new Map(), count: 0, on: {} };
  const put = (name, content) => state.held.set(name, { content: Buffer.from(content), version: `v${++state.count}` });
  state.put = put;
  for (const [name, content] of Object.entries(held)) put(name, content);
  const note = async (call, ctx) => {
    state.calls.push([call, ctx.path, ...("ifMatch" in ctx && ctx.ifMatch !== undefined ? [ctx.ifMatch] : [])]);
    await state.on[call]?.(ctx);
  };
  state.dir = (more = {}) =>
    customDir({
      harnessDir: DIR,
      async list(ctx) {
        await note("list", ctx);
        return [...state.held].map(([path, { version }]) =>
          versions ? { path, kind: "file", version } : { path, kind: "file" },
        );
      },
      async read(ctx) {
        await note("read", ctx);
        return state.held.get(ctx.path).content;
      },
      async write(ctx) {
        await note("write", ctx);
        put(ctx.path, ctx.content);
        return answers && versions ? { version: state.held.get(ctx.path).version } : undefined;
      },
      async delete(ctx) {
        await note("delete", ctx);
        state.held.delete(ctx.path);
      },
      ...more,
    });
  state.of = (call) => state.calls.filter(([name]) => name === call);
  return state;
}

test("entries with the base's version are not read again; those without are", async (t) => {
  for (const versions of [true, false]) {
    const state = filing({ a: "a", "b/c": "c" }, { versions });
    const h = await withDirs(t, [state.dir()]);
    await inTurn(h.main);
    assert.equal(state.of("read").length >= 2, true);
    state.calls.length = 0;
    await (await h.main.beginTurn()).abort();
    assert.equal(state.of("read").length, versions ? 0 : 2);
    state.put("a", "changed");
    state.calls.length = 0;
    await (await h.main.beginTurn()).abort();
    assert.deepEqual(
      state
        .of("read")
        .map(([, path]) => path)
        .sort(),
      versions ? ["a"] : ["a", "b/c"],
    );
    assert.equal((await h.files.read(at("a"))).text(), "changed");
    await h.close();
  }
});

test("what write and delete are given", async (t) => {
  const state = filing({ a: "old a", gone: "old" });
  const h = await withDirs(t, [state.dir()]);
  const contents = {};
  state.on.write = async ({ path, content, open, harnessDir, sessionId }) => {
    contents[path] = [Buffer.from(content).toString(), (await collect(open())).toString(), harnessDir, sessionId];
  };
  const finished = await inTurn(h.main, async (files) => {
    await files.write(at("a"), "new a");
    await files.write(at("made/b"), "");
    await files.remove(at("gone"));
  });
  assertLanded(finished.persistence, { created: 1, updated: 1, deleted: 1 });
  assert.deepEqual(contents, { a: ["new a", "new a", DIR, "test"], "made/b": ["", "", DIR, "test"] });
  assert.deepEqual(
    state.calls.filter(([call]) => call === "write" || call === "delete"),
    [
      ["delete", "gone", "v2"],
      ["write", "a", "v1"],
      ["write", "made/b"],
    ],
    "with the base's version; deletes first, then by path",
  );
  // The version that write answered is the base's from now on.
  state.calls.length = 0;
  assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "newer"))).persistence, { updated: 1 });
  assert.deepEqual(state.of("write"), [["write", "a", "v3"]]);
  assert.equal(state.of("read").length, 0);
});

test("write of more than 64 MiB: content refuses, open streams", { timeout: 60_000 }, async (t) => {
  const state = filing();
  const seen = {};
  const size = (64 << 20) + 1;
  const write = async (ctx) => {
    seen.path = ctx.path;
    try {
      seen.content = ctx.content.length;
    } catch (error) {
      seen.content = error.code;
    }
    for await (const chunk of ctx.open()) seen.streamed = (seen.streamed ?? 0) + chunk.length;
  };
  const h = await withDirs(t, [state.dir({ write })]);
  const finished = await inTurn(h.main, (files) => files.write(at("big"), Buffer.alloc(size, "x")));
  assertLanded(finished.persistence, { created: 1 });
  assert.deepEqual(seen, { content: "FS_TOO_LARGE", path: "big", streamed: size });
});

test("folders are entered once, however they are listed", async (t) => {
  const listed = [];
  const tree = {
    "": [
      { path: "a", kind: "directory" },
      { path: "a", kind: "directory" },
      { path: "top.txt", kind: "file" },
      { path: "a/b/deep.txt", kind: "file" },
    ],
    a: [
      { path: "a/b", kind: "directory" },
      { path: "a/inner.txt", kind: "file" },
      { path: "a", kind: "directory" },
    ],
    "a/b": [
      { path: "a/b/deep.txt", kind: "file" },
      { path: "a", kind: "directory" },
    ],
  };
  const h = await withDirs(t, [
    customDir({
      harnessDir: DIR,
      commit: "read-only",
      list: async ({ path }) => {
        listed.push(path);
        return tree[path];
      },
      read: async ({ path }) => `content of ${path}`,
    }),
  ]);
  await inTurn(h.main);
  assert.deepEqual(listed.sort(), ["", "a", "a/b"]);
  assertHolds(
    filesOf(h.checkout),
    Object.fromEntries(["top.txt", "a/inner.txt", "a/b/deep.txt"].map((name) => [name, `content of ${name}`])),
  );
});

test("folders without end: the load fails when no file can lie in them any more", { timeout: 20_000 }, async (t) => {
  let isEndless = false;
  const list = async ({ path }) =>
    isEndless ? [{ path: path === "" ? "again" : `${path}/again`, kind: "directory" }] : [];
  const h = await withDirs(t, [customDir({ harnessDir: DIR, list, read: nothing, write: nothing, delete: nothing })]);
  await inTurn(h.main);
  isEndless = true;
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
});

test("a path that is listed as a file and as a directory: the load fails, and hides nothing", async (t) => {
  const versions = { top: [{ path: "a/b.txt", kind: "file" }] };
  const list = async ({ path }) => (path === "" ? versions.top : [{ path: "a/b.txt", kind: "file" }]);
  const h = await withDirs(t, [
    customDir({ harnessDir: DIR, commit: "read-only", list, read: async ({ path }) => `content of ${path}` }),
  ]);
  await inTurn(h.main);
  const held = { "a/b.txt": "content of a/b.txt" };
  for (const kinds of [
    ["file", "directory"],
    ["directory", "file"],
  ]) {
    versions.top = kinds.map((kind) => ({ path: "a", kind }));
    const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    assert.match(error.message, /"a" as a file and as a directory/);
    assertHolds(filesOf(h.checkout), held);
  }
});

test("what list and read may not give: the load fails whole", async (t) => {
  const lists = {
    "no array": () => "x",
    nothing: () => undefined,
    "no path": () => [{ kind: "file" }],
    "no kind": () => [{ path: "a" }],
    "an unknown kind": () => [{ path: "a", kind: "link" }],
    "a version that is no string": () => [{ path: "a", kind: "file", version: 7 }],
    "a path that leaves": () => [{ path: "../a", kind: "file" }],
    "a folder that leaves": () => [{ path: "..", kind: "directory" }],
    "an absolute path": () => [{ path: "/a", kind: "file" }],
    "a file below a file": () => [
      { path: "a", kind: "file" },
      { path: "a/b", kind: "file" },
    ],
  };
  for (const [what, list] of Object.entries(lists)) {
    const h = await withDirs(t, [
      customDir({ harnessDir: DIR, commit: "read-only", list: async () => list(), read: async () => "x" }),
    ]);
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED").catch((error) => {
      throw new Error(`${what}: ${error.message}`, { cause: error });
    });
    assertHolds(filesOf(h.checkout), {}, what);
    await h.close();
  }
  for (const content of [undefined, null, 7, [], new Map()]) {
    const h = await withDirs(t, [
      customDir({
        harnessDir: DIR,
        commit: "read-only",
        list: async () => [{ path: "a", kind: "file" }],
        read: async () => content,
      }),
    ]);
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    await h.close();
  }
});

test("a conflict that is met on the way stops there; what landed is not sent again", async (t) => {
  const state = filing({ a: "old", b: "old", c: "old" });
  const h = await withDirs(t, [state.dir()]);
  state.on.write = ({ path }) => {
    if (path !== "b" || state.held.get("b").content.toString() !== "old") return;
    state.put("b", "theirs");
    throw new PersistentDirConflict(["b"]);
  };
  const finished = await inTurn(h.main, async (files) => {
    for (const name of ["a", "b", "c"]) await files.write(at(name), "ours");
  });
  assertFailed(finished.persistence, "FS_CONFLICT");
  assert.deepEqual(await conflictsOf(h.main, ["old", "ours", "theirs"]), { b: "old|ours|theirs" });
  assert.deepEqual(await pendingOf(h.main), ["updated c"]);
  assert.equal(state.held.get("a").content.toString(), "ours");
  assert.equal(state.held.get("b").content.toString(), "theirs");
  state.on.write = undefined;
  await h.persistence.resolve(at("b"), "ours");
  assertLanded(await h.persistence.commit(), { updated: 2 });
  assert.equal(state.of("write").filter(([, path]) => path === "a").length, 1, "a landed at the first attempt");
});

// ── scope ──

test("scope names the store; without one extraBody does", async (t) => {
  for (const [scope, shared] of [
    [({ extraBody }) => extraBody.user, true],
    [undefined, false],
  ]) {
    const h = await withDirs(t, [loading(async () => ({}), scope && { scope })]);
    const first = { extraBody: { user: "u", request: 1 } };
    await leavePending(h.main, (files) => files.write(at("a"), "a"), first);
    const second = { extraBody: { user: "u", request: 2 } };
    if (shared) await (await h.main.beginTurn(second)).abort();
    else await rejectsWith(h.main.beginTurn(second), "FS_CONFLICT");
    // The order of keys says nothing.
    await (await h.main.beginTurn({ extraBody: { request: 1, user: "u" } })).abort();
    await h.close();
  }
});

test("a scope that is none fails the load", async (t) => {
  for (const given of ["", "x".repeat(1025), undefined, 7, null, {}]) {
    const h = await withDirs(t, [loading(async () => ({}), { scope: () => given })]);
    await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    await h.close();
  }
  const failure = new Error("no tenant");
  const h = await withDirs(t, [
    loading(async () => ({}), {
      scope: () => {
        throw failure;
      },
    }),
  ]);
  assert.equal((await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED")).cause, failure);
});

test("a commit that was called off before anything was tried counts as no attempt", { timeout: 20_000 }, async (t) => {
  const controller = new AbortController();
  let ends = false;
  const dir = customDir({
    harnessDir: DIR,
    list: async () => {
      if (ends) controller.abort();
      return [];
    },
    read: async () => "",
    write: async () => {},
    delete: async () => {},
  });
  const h = await withDirs(t, [dir]);
  await leavePending(h.main, (files) => files.write(at("a.txt"), "ours"));
  ends = true;
  const { failedCommits } = await h.persistence.commit({ signal: controller.signal });
  assert.equal(failedCommits[0].error.code, "FS_ABORTED");
  // It is not waited for, and over once its event is there.
  await until(() => h.events.some(({ type }) => type === "harness.persistent_dir.commit.failed"), "the commit is over");
  const [{ attempts, lastError }] = await h.persistence.pending();
  assert.deepEqual([attempts, lastError], [0, undefined]);
  ends = false;
  assertLanded(await h.persistence.commit(), { created: 1 });
});
