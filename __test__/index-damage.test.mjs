// A lost or damaged index loses no session and no file, and is never thrown away: it is set aside and one event says so.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir, withHost } from "./support/host.mjs";
import { lastJson, startChild } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const TYPE = "application/x-told-by-the-caller";
const IDS = ["plain", "Upper/../Ünïcode", "x".repeat(200)];
const FILES = 600;
/** The first session is made by `withHost`, without metadata. */
const metadataOf = (at) => (at === 0 ? undefined : { user: `u${at}` });

/** Three sessions, the first with enough files that their rows fill many pages. Closed, so that harness.db holds all. */
async function build(t) {
  const base = tempDir(t);
  const h = await withHost(t, { base, sessionId: IDS[0] });
  const contents = new Map();
  for (const [at, id] of IDS.entries()) {
    const session = await h.session(id, { metadata: metadataOf(at) });
    const one = async (name, content, options) => {
      await session.files.write(name, content, options);
      contents.set(`${id}:${name}`, content);
    };
    await one("/session/marked.bin", `marked ${at}`, { mediaType: TYPE, artifact: { name: "Marked" } });
    await one("/artifacts/deep/er/out.txt", `out ${at}`, { artifact: { name: "Out" } });
    if (at > 0) continue;
    const long = "n".repeat(100);
    await Promise.all(
      Array.from({ length: FILES }, (_, n) =>
        one(`/session/many/${long}-${n}.txt`, `content ${n}`, { mediaType: TYPE }),
      ),
    );
  }
  await h.close();
  const database = path.join(base, "data", "harness.db");
  for (const extra of ["-wal", "-shm"]) fs.rmSync(database + extra, { force: true });
  return { base, database, contents };
}

const damages = {
  garbage: (bytes) => Buffer.alloc(bytes.length, "garbage, not a database. "),
  "a short garbage": () => Buffer.from("not a database"),
  "cut in half": (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2)),
  "cut inside the first page": (bytes) => bytes.subarray(0, 60),
  "pages in the middle zeroed": (bytes) =>
    Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(bytes.length - 16384), bytes.subarray(-8192)]),
  "everything but the header zeroed": (bytes) =>
    Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100)]),
  "pages in the middle overwritten": (bytes) => {
    const damaged = Buffer.from(bytes);
    for (let page = 2; page < bytes.length / 4096; page += 2) damaged.fill(0xa5, page * 4096, (page + 1) * 4096);
    return damaged;
  },
};

async function assertAllThere(h, contents) {
  const sessions = await h.sessions.list();
  assert.deepEqual(sessions.map((each) => each.id).sort(), [...IDS].sort());
  for (const [at, id] of IDS.entries())
    assert.deepEqual(sessions.find((each) => each.id === id).metadata, metadataOf(at));
  for (const id of IDS) {
    const session = await h.sessions.get(id);
    assert.equal(session.id, id);
    const entries = [
      ...(await session.files.list("/session", { recursive: true })),
      ...(await session.files.list("/artifacts", { recursive: true })),
    ];
    const files = entries.filter((each) => each.kind === "file");
    const expected = [...contents.keys()]
      .filter((each) => each.startsWith(`${id}:`))
      .map((each) => each.slice(id.length + 1));
    assert.deepEqual(files.map((each) => each.path).sort(), expected.sort());
    for (const entry of files) {
      const data = await session.files.read(entry.path);
      assert.equal(data.text(), contents.get(`${id}:${entry.path}`));
      assert.notEqual(data.mediaType, TYPE);
      assert.notEqual(entry.mediaType, TYPE);
      assert.ok(entry.sha256 === undefined || entry.sha256 === data.sha256);
      assert.equal(entry.artifact?.name, undefined);
    }
    const artifacts = await session.artifacts.list();
    assert.deepEqual(
      artifacts.map((each) => each.path),
      ["/artifacts/deep/er/out.txt"],
      "the mark of a file outside /artifacts is gone",
    );
    const status = await session.status();
    assert.equal(status.files, expected.length);
    await session.close();
  }
}

const rebuilt = (h) => h.events.filter((event) => event.type === "harness.index.rebuilt");
const lines = (h) =>
  fs
    .readFileSync(path.join(h.home, "trace.ndjson"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

for (const [damage, apply] of Object.entries(damages)) {
  test(`a database of ${damage} is set aside and rebuilt`, async (t) => {
    const { base, database, contents } = await build(t);
    const intact = fs.readFileSync(database);
    const damaged = apply(intact);
    assert.ok(intact.length > 16 * 4096, `the database has only ${intact.length} bytes`);
    fs.writeFileSync(database, damaged);
    const before = new Set(fs.readdirSync(path.dirname(database)));
    const h = await withHost(t, { base, sessionId: IDS[0] });
    await assertAllThere(h, contents);
    assert.equal(rebuilt(h).length, 1);
    assert.equal(rebuilt(h)[0].sessionId, "");
    const aside = fs
      .readdirSync(path.dirname(database))
      .filter(
        (name) =>
          !before.has(name) && !/^harness\.db(-wal|-shm)?$/.test(name) && name !== "trash" && name !== "sessions",
      );
    const kept = aside.filter((name) => fs.statSync(path.join(path.dirname(database), name)).size >= damaged.length);
    assert.equal(kept.length, 1, `the damaged database is kept under another name: ${aside}`);
    if (!damage.startsWith("pages"))
      assert.deepEqual(fs.readFileSync(path.join(path.dirname(database), kept[0])), damaged, "byte for byte");
    await h.close();
    const again = await withHost(t, { base, sessionId: IDS[0] });
    await assertAllThere(again, contents);
    assert.equal(rebuilt(again).length, 0, "only once");
    await again.close();
  });
}

for (const [loss, apply] of Object.entries({
  missing: fs.rmSync,
  "of no bytes": (database) => fs.truncateSync(database),
})) {
  test(`a database that is ${loss} beside session folders is rebuilt`, async (t) => {
    const { base, database, contents } = await build(t);
    apply(database);
    const h = await withHost(t, { base, sessionId: IDS[0] });
    await assertAllThere(h, contents);
    assert.equal(rebuilt(h).length, 1);
    await h.close();
  });
}

test("a new folder is no rebuild", async (t) => {
  const h = await withHost(t);
  assert.equal(rebuilt(h).length, 0);
});

test("events go on counting above what the trace holds", async (t) => {
  const { base, database } = await build(t);
  fs.writeFileSync(database, "garbage");
  const h = await withHost(t, { base, sessionId: IDS[0] });
  const highest = Math.max(...lines(h).map((event) => event.sequence));
  assert.ok(highest >= FILES);
  await h.files.write("/session/next.txt", "next");
  for (const event of h.events.filter((each) => each.sessionId === IDS[0]))
    assert.ok(event.sequence > highest, `${event.sequence} after ${highest}`);
  const sequences = lines(h).map((event) => event.sequence);
  assert.equal(new Set(sequences).size, sequences.length);
  await h.close();
});

test("they do so also when the last events are long", async (t) => {
  const base = tempDir(t);
  const first = await withHost(t, { base });
  for (let n = 0; n < 5; n++)
    await first.files.write(`/session/${n}.txt`, "x", { metadata: { long: "é".repeat(32_700) } });
  const highest = Math.max(...lines(first).map((event) => event.sequence));
  await first.close();
  fs.rmSync(path.join(base, "data", "harness.db"));
  const second = await withHost(t, { base });
  await second.files.write("/session/next.txt", "next");
  const next = second.events.find((event) => event.sessionId === "test");
  assert.ok(next.sequence > highest, `${next.sequence} after ${highest}`);
  await second.close();
});

test("two processes that open a damaged database at once rebuild it once", async (t) => {
  const { base, database, contents } = await build(t);
  fs.writeFileSync(database, "garbage");
  const children = [0, 1].map(() => startChild(t, "open-and-look", [path.join(base, "data"), JSON.stringify(IDS)]));
  await Promise.all(children.map((child) => child.line("ready")));
  for (const child of children) child.send("go");
  const results = (await Promise.all(children.map((child) => child.ended))).map(lastJson);
  assert.equal(
    results.reduce((sum, each) => sum + each.rebuilt, 0),
    1,
    JSON.stringify(results),
  );
  for (const { hashes } of results) {
    assert.deepEqual(hashes, Object.fromEntries([...contents].map(([name, content]) => [name, sha256(content)])));
  }
  const aside = fs
    .readdirSync(path.dirname(database))
    .filter(
      (name) =>
        fs.statSync(path.join(path.dirname(database), name)).isFile() &&
        fs.readFileSync(path.join(path.dirname(database), name)).equals(Buffer.from("garbage")),
    );
  assert.equal(aside.length, 1);
});
