// Quotas: counted on the difference, exactly, also for writes that run at once; a refusal leaves the disk as it was.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localHost } from "@little-stack/files";
import { assertError, rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { dir, leftovers, names, plant, rootsSnapshot, sha256 } from "./support/tree.mjs";

const text = (bytes, letter = "x") => letter.repeat(bytes);
const pieces = (bytes, size) =>
  (async function* () {
    for (let left = bytes; left > 0; left -= size) yield text(Math.min(size, left));
  })();
const over = (promise) => rejectsWith(promise, "FS_QUOTA_EXCEEDED");

test("sessionBytes: to the byte, over both roots, on the difference", async (t) => {
  const h = await withHost(t, { quota: { sessionBytes: 1_000 } });
  await h.files.writeText("/session/a", text(400));
  await h.files.write("/artifacts/b", pieces(500, 7));
  const before = rootsSnapshot(h.roots);
  await over(h.files.writeText("/session/c", text(101)));
  await over(h.files.write("/session/deep/c", pieces(101, 10)));
  await over(h.files.writeText("/session/a", text(501)));
  await over(h.files.writeText("/artifacts/b", text(601), { ifMatch: sha256(text(500)) }));
  assert.deepEqual(rootsSnapshot(h.roots), before);
  assert.deepEqual(leftovers(h.dataDir), []);
  await h.files.writeText("/session/c", text(100)); // exactly full
  await over(h.files.writeText("/session/d", text(1)));
  await h.files.writeText("/session/d", ""); // nothing more
  await h.files.writeText("/session/a", text(400, "y")); // the same size
  await h.files.writeText("/session/a", text(100)); // shrinks
  await h.files.writeText("/session/e", text(300));
  await over(h.files.writeText("/session/f", text(1)));
  await h.files.remove("/artifacts/b");
  await h.files.writeText("/session/f", text(500));
  await over(h.files.writeText("/session/g", text(1)));
  const status = await h.main.status();
  assert.equal(status.bytes, 1_000);
  assert.equal(status.files, 5);
});

test("sessionFiles: new files count, replaced ones do not", async (t) => {
  const h = await withHost(t, { quota: { sessionFiles: 3 } });
  for (const name of ["/session/a", "/session/d/b", "/artifacts/c"]) await h.files.writeText(name, "x");
  const before = rootsSnapshot(h.roots);
  await over(h.files.writeText("/session/new/x", "x"));
  await over(h.files.writeJSON("/artifacts/x", {}));
  await over(h.files.write("/session/x", pieces(10, 1), { ifNoneMatch: "*" }));
  assert.deepEqual(rootsSnapshot(h.roots), before);
  await h.files.writeText("/session/a", "replaced");
  await h.files.writeText("/session/a", "guarded", { ifMatch: sha256("replaced") });
  await h.files.remove("/session/d", { recursive: true });
  await h.files.writeText("/session/e", "x");
  await over(h.files.writeText("/session/f", "x"));
});

test("fileBytes: while streaming, so that an endless source ends", async (t) => {
  const h = await withHost(t, { quota: { fileBytes: 1_000_000 } });
  await h.files.writeText("/session/a", "old");
  const before = rootsSnapshot(h.roots);
  let pulled = 0;
  let closed = 0;
  const endless = (async function* () {
    try {
      for (;;) {
        pulled += 1;
        yield Buffer.alloc(65_536, 1);
      }
    } finally {
      closed += 1;
    }
  })();
  await over(h.files.write("/session/a", endless));
  assert.equal(closed, 1, "the source is told");
  assert.ok(pulled < 128, `${pulled} chunks were pulled for a limit of sixteen`);
  await over(h.files.writeText("/session/b", text(1_000_001)));
  await over(h.files.write("/session/b", Buffer.alloc(1_000_001)));
  await over(h.files.write("/session/b", new Blob([text(1_000_001)])));
  await over(h.files.write("/session/b", pieces(1_000_001, 99_999)));
  await over(
    h.files.writeJSON(
      "/session/b",
      Array.from({ length: 300_000 }, (_, n) => n),
    ),
  );
  assert.deepEqual(rootsSnapshot(h.roots), before);
  assert.deepEqual(leftovers(h.dataDir), []);
  assert.equal((await h.files.writeText("/session/b", text(1_000_000))).bytes, 1_000_000);
  assert.equal((await h.files.write("/session/c", pieces(1_000_000, 77_777))).bytes, 1_000_000);
});

test("writes that run at once share one quota, over handles and hosts", async (t) => {
  const quota = { sessionBytes: 100, sessionFiles: 30 };
  const h = await withHost(t, { quota });
  const second = await withHost(t, { base: h.base, quota });
  const handles = [h.files, (await h.session("test")).files, second.files];
  const write = (n) => handles[n % 3].write(`/session/f${n}`, n % 2 ? text(10) : pieces(10, 3));
  const done = await Promise.allSettled(Array.from({ length: 25 }, (_, n) => write(n)));
  for (const each of done)
    if (each.status === "rejected") assert.equal(each.reason.code, "FS_QUOTA_EXCEEDED", each.reason.stack);
  assert.equal(done.filter((each) => each.status === "fulfilled").length, 10);
  assert.equal(names(h.roots.session).length, 10);
  // Replacing at the limit, all at once: each is a difference of nothing.
  const [first] = names(h.roots.session);
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => handles[n % 3].writeText(`/session/${first}`, text(10, String(n % 10)))),
  );
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("sessionFiles with writers at once", async (t) => {
  const h = await withHost(t, { quota: { sessionFiles: 7 } });
  const done = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => h.files.writeText(`/session/${n % 3}/f${n}`, "x")),
  );
  assert.equal(done.filter((each) => each.status === "fulfilled").length, 7);
  for (const each of done) if (each.status === "rejected") assertError(each.reason, "FS_QUOTA_EXCEEDED");
  assert.equal(
    (await h.files.list("/session", { recursive: true })).filter((entry) => entry.kind === "file").length,
    7,
  );
});

test("each session has its own; folders, links, trace and database do not count", async (t) => {
  const h = await withHost(t, { quota: { sessionBytes: 50, sessionFiles: 2 } });
  await h.files.writeText("/session/a/b/c/d", text(50));
  const other = await h.session("other");
  await other.files.writeText("/session/a", text(50));
  await over(other.files.writeText("/session/b", "x"));
  await over(h.files.writeText("/session/b", "x"));
  for (let at = 0; at < 20; at += 1) await h.files.writeText("/session/a/b/c/d", text(50, "y"), { metadata: { at } });
  await h.files.writeText("/session/empty", "");
});

test("what was there before the session opened counts, also after a restart", async (t) => {
  const base = tempDir(t);
  const quota = { sessionBytes: 100, sessionFiles: 3 };
  const first = await withHost(t, { base, quota });
  await first.files.writeText("/session/own", text(30));
  await first.close();
  plant(first.roots.session, { "foreign/a": text(50), "foreign/dir": dir() });
  const second = await withHost(t, { base, quota });
  await over(second.files.writeText("/session/b", text(21)));
  await second.files.writeText("/session/b", text(20));
  await over(second.files.writeText("/session/c", ""));
  await second.files.remove("/session/foreign", { recursive: true });
  await second.files.writeText("/session/c", text(50));
  assert.equal((await second.main.status()).bytes, 100);
});

test("a failed or refused write uses nothing up", async (t) => {
  const h = await withHost(t, { quota: { sessionBytes: 100, sessionFiles: 2 } });
  for (let round = 0; round < 5; round += 1) {
    await rejectsWith(
      h.files.write(
        "/session/a",
        (async function* () {
          yield text(60);
          throw new Error("broke");
        })(),
      ),
      "FS_INVALID_CONTENT",
    );
    await rejectsWith(h.files.writeText("/session/a", text(60), { ifMatch: sha256("none") }), "FS_STALE_VERSION");
    await over(h.files.writeText("/session/a", text(101)));
  }
  await h.files.writeText("/session/a", text(60));
  await h.files.writeText("/session/b", text(40));
  await rejectsWith(h.files.writeText("/session/b", text(1), { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS");
  await h.files.writeText("/session/b", text(40, "z"));
});

test("a quota of zero allows nothing; one that makes no sense is told at once", async (t) => {
  const h = await withHost(t, { quota: { sessionFiles: 0 } });
  await over(h.files.writeText("/session/a", ""));
  const base = tempDir(t);
  for (const quota of [
    { sessionBytes: -1 },
    { fileBytes: 1.5 },
    { sessionFiles: NaN },
    { sessionBytes: "1" },
    { fileBytes: 2 ** 60 },
    "all",
  ]) {
    let host;
    try {
      assert.throws(
        () => {
          host = localHost({ dataDir: path.join(base, "data"), quota });
        },
        (error) => {
          assert.equal(error.code, "FS_INVALID_OPTION");
          assert.match(error.message, /quota|sessionBytes|fileBytes|sessionFiles/);
          return true;
        },
        JSON.stringify(quota),
      );
    } finally {
      await host?.close();
    }
  }
  assert.equal(fs.existsSync(path.join(base, "data")), false, "nothing was made");
});

test("what other programs make and we remove or replace gives no credit", async (t) => {
  const h = await withHost(t, { quota: { sessionBytes: 1_000, sessionFiles: 5 } });
  const foreign = (name, bytes) => plant(h.roots.session, { [name]: text(bytes) });
  await h.files.writeText("/session/a", text(900));
  for (let at = 0; at < 10; at += 1) {
    foreign(`f${at}`, 500);
    await h.files.remove(`/session/f${at}`);
  }
  await over(h.files.writeText("/session/b", text(101)));
  for (let at = 0; at < 10; at += 1) foreign(`tree/${at}`, 500);
  await h.files.remove("/session/tree", { recursive: true });
  await over(h.files.writeText("/session/b", text(101)));
  foreign("a", 50_000); // grown by a shell, then replaced by us
  await h.files.writeText("/session/a", text(900));
  await over(h.files.writeText("/session/b", text(101)));
  for (let at = 0; at < 4; at += 1) await h.files.writeText(`/session/n${at}`, "x");
  await over(h.files.writeText("/session/n4", "x"));
  const status = await h.main.status();
  assert.deepEqual([status.bytes, status.files], [904, 5]);
});
