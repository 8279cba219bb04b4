// Closing waits for what runs; what comes after is FS_CLOSED; the process ends by itself, with or without it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { tagged, tagOf } from "./support/content.mjs";
import { runChild, sleep } from "./support/process.mjs";
import { leftovers } from "./support/tree.mjs";

const calls = {
  write: (files) => files.write("/session/a.txt", "x"),
  writeText: (files) => files.writeText("/session/a.txt", "x"),
  writeJSON: (files) => files.writeJSON("/session/a.txt", 1),
  read: (files) => files.read("/session/a.txt"),
  readStream: (files) => files.readStream("/session/a.txt"),
  stat: (files) => files.stat("/session/a.txt"),
  list: (files) => files.list("/session"),
  remove: (files) => files.remove("/session/a.txt"),
};
const sessionCalls = {
  flush: (session) => session.flush(),
  status: (session) => session.status(),
  "artifacts.list": (session) => session.artifacts.list(),
  "artifacts.read": (session) => session.artifacts.read("/session/a.txt"),
};

async function assertClosed(session) {
  for (const call of Object.values(calls)) await rejectsWith(call(session.files), "FS_CLOSED");
  for (const call of Object.values(sessionCalls)) await rejectsWith(call(session), "FS_CLOSED");
  await session.close();
}

test("after session.close every call is FS_CLOSED, another handle goes on", async (t) => {
  const h = await withHost(t);
  const other = await h.session();
  await h.files.write("/session/a.txt", "kept");
  await h.main.close();
  await assertClosed(h.main);
  assert.equal((await other.files.read("/session/a.txt")).text(), "kept");
  assert.equal((await (await h.session()).files.read("/session/a.txt")).text(), "kept");
});

test("host.close closes its sessions, and what is asked of it then is FS_CLOSED", async (t) => {
  const h = await withHost(t);
  const other = await h.session("other");
  await h.files.write("/session/a.txt", "kept");
  await h.close();
  await h.host.close();
  await assertClosed(h.main);
  await assertClosed(other);
  for (const call of [
    () => h.host.sessions.getOrCreate({ id: "x" }),
    () => h.host.sessions.get("x"),
    () => h.host.sessions.list(),
    () => h.host.sessions.delete("test"),
  ]) {
    await rejectsWith(call(), "FS_CLOSED");
  }
  assert.equal(fs.readFileSync(path.join(h.roots.session, "a.txt"), "utf8"), "kept");
});

for (const who of ["session", "host"]) {
  test(`${who}.close waits for the calls that run`, async (t) => {
    const h = await withHost(t);
    const content = tagged("new", 4 << 20);
    let given = 0;
    const slow = async function* () {
      for (; given < 8; given++) {
        await sleep(20);
        yield content.subarray(given * (content.length / 8), (given + 1) * (content.length / 8));
      }
    };
    const settled = [];
    const note = (name, promise) =>
      promise.then((value) => {
        settled.push(name);
        return value;
      });
    const running = [
      note("stream", h.files.write("/session/stream.bin", slow())),
      ...Array.from({ length: 30 }, (_, n) =>
        note(`write ${n}`, h.files.write(`/session/${n}.bin`, tagged(n, 200_000))),
      ),
      note(
        "json",
        h.files.writeJSON(
          "/session/rows.json",
          Array.from({ length: 50_000 }, (_, id) => ({ id })),
        ),
      ),
      note("list", h.files.list("/session", { recursive: true })),
    ];
    await (who === "host" ? h.close() : h.main.close());
    assert.equal(settled.length, running.length, `still running: ${running.length - settled.length}`);
    await Promise.all(running);
    assert.equal(given, 8);
    for (let n = 0; n < 30; n++)
      assert.equal(tagOf(fs.readFileSync(path.join(h.roots.session, `${n}.bin`))), String(n));
    assert.equal(tagOf(fs.readFileSync(path.join(h.roots.session, "stream.bin"))), "new");
    await rejectsWith(h.files.write("/session/late", "x"), "FS_CLOSED");
    assert.deepEqual(leftovers(h.dataDir), []);
  });
}

test("a call in the same turn of the loop as close, right after it, is FS_CLOSED", async (t) => {
  const h = await withHost(t);
  const running = h.files.write("/session/a.txt", "first");
  const closing = h.main.close();
  const late = rejectsWith(h.files.write("/session/b.txt", "late"), "FS_CLOSED");
  await Promise.all([running, closing, late]);
  assert.deepEqual(fs.readdirSync(h.roots.session), ["a.txt"]);
});

test("a stream that is being read when its session closes ends whole or FS_CLOSED, and holds up no close", async (t) => {
  const h = await withHost(t);
  await h.files.write("/session/big.bin", tagged("big", 8 << 20));
  const reader = (await h.files.readStream("/session/big.bin")).getReader();
  await reader.read();
  await h.close();
  let bytes = 0;
  try {
    for (let next; !(next = await reader.read()).done;) bytes += next.value.length;
    assert.ok(bytes > 0);
  } catch (error) {
    assert.equal(error.code, "FS_CLOSED");
  }
});

test("await using closes the host and the session", async (t) => {
  if (typeof Symbol.asyncDispose !== "symbol") return t.skip("this Node has no Symbol.asyncDispose");
  const h = await withHost(t);
  const other = await h.session("other");
  await other[Symbol.asyncDispose]();
  await assertClosed(other);
  await h.files.write("/session/a.txt", "open");
  await h.host[Symbol.asyncDispose]();
  await assertClosed(h.main);
});

const uses = {
  nothing: async () => {},
  write: (h) => h.files.write("/session/b.txt", "x"),
  "write a stream": (h) =>
    h.files.write(
      "/session/b.txt",
      (async function* () {
        yield Buffer.alloc(3 << 20);
      })(),
    ),
  "a write that fails": (h) =>
    h.files
      .write(
        "/session/b.txt",
        (async function* () {
          yield "x";
          throw new Error("on purpose");
        })(),
      )
      .catch(() => {}),
  read: (h) => h.files.read("/session/a.txt"),
  "readStream to its end": async (h) => new Response(await h.files.readStream("/session/a.txt")).text(),
  "readStream that nobody read": (h) => h.files.readStream("/session/a.txt"),
  "readStream that was begun": async (h) => (await h.files.readStream("/session/a.txt")).getReader().read(),
  list: (h) => h.files.list("/session", { recursive: true }),
  "list with a limit": (h) => h.files.list("/session", { limit: 1 }),
  "artifacts.list": (h) => h.main.artifacts.list(),
  remove: (h) => h.files.remove("/session/a.txt"),
  flush: (h) => h.main.flush(),
  "a second handle": (h) => h.session(),
  "a signal": (h) => h.files.write("/session/b.txt", "x", { signal: new AbortController().signal }),
};
for (const [use, call] of Object.entries(uses)) {
  test(`host.close lets go of every handle below dataDir, whether or not garbage was collected: ${use}`, async (t) => {
    if (process.platform !== "linux") return t.skip("looks at the handles in /proc/self/fd");
    const h = await withHost(t);
    await h.files.write("/session/a.txt", "there");
    await h.files.write("/session/c.txt", "there");
    const result = await call(h);
    await h.close();
    const open = fs.readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return [fs.readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return []; // the handle on the folder itself, closed meanwhile
      }
    });
    assert.deepEqual(
      open.filter((target) => target.startsWith(h.base)).map((target) => path.relative(h.base, target)),
      [],
    );
    assert.deepEqual(fs.readdirSync(path.join(h.home, "staging")), []);
    assert.ok(result !== null);
  });
}

test("many opens and closes leave no handle", async (t) => {
  if (process.platform !== "linux") return t.skip("counts handles in /proc/self/fd");
  const base = tempDir(t);
  const count = () => fs.readdirSync("/proc/self/fd").length;
  const once = async () => {
    const h = await withHost(t, { base });
    await h.files.write("/session/a.txt", "x");
    await h.session("other");
    await h.close();
  };
  await once();
  const before = count();
  for (let n = 0; n < 40; n++) await once();
  assert.ok(count() <= before + 5, `${count() - before} handles more after 40 hosts`);
});

const ends = {
  "after close": "close",
  "without close": "leave",
  "with process.exit and 200 writes pending": "exit",
  "with process.exit inside an event of a write": "exit-in-event",
  "with an uncaught error and writes pending": "throw",
  "with a read stream open and nothing closed": "stream",
};
for (const [title, way] of Object.entries(ends)) {
  test(`a process ends without a crash ${title}`, { timeout: 120_000 }, async (t) => {
    for (let round = 0; round < (way.startsWith("exit") || way === "throw" ? 8 : 2); round++) {
      const base = tempDir(t);
      const end = await runChild(t, "ending", [path.join(base, "data"), way], { limit: 30_000 });
      assert.equal(end.signal, null, `${end.signal}: ${end.stderr}`);
      assert.equal(end.code, { exit: 7, "exit-in-event": 7, throw: 1 }[way] ?? 0, end.stderr);
      if (way === "throw") assert.match(end.stderr, /on purpose/);
      else assert.equal(end.stderr, "");
      const h = await withHost(t, { base, sessionId: "ending" });
      for (const entry of await h.files.list("/session", { recursive: true })) {
        if (entry.kind === "file")
          assert.equal(tagOf((await h.files.read(entry.path)).content), path.basename(entry.path, ".bin"));
      }
      if (way === "close" || way === "leave") assert.equal((await h.files.list("/session")).length, 200);
      assert.deepEqual(leftovers(h.dataDir), []);
      await h.close();
    }
  });
}
