// What cannot be an `s3Dir` is refused at once, in words; what the entry needs, and when.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { HarnessFileError } from "@little-stack/files";
import { s3Dir } from "@little-stack/files/s3";
import { after, rejectsWith, tempDir } from "./support/host.mjs";
import { filesOf, inTurn, withDirs } from "./support/persistent/session.mjs";
import { copyPackage } from "./support/process.mjs";

const client = { send: async () => ({}) };
const good = { client, bucket: "bucket", prefix: "users/ann/", harnessDir: "/persistent/user" };

function refused(change, option) {
  const error = (() => {
    try {
      s3Dir({ ...good, ...change });
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  })();
  assert.ok(error instanceof HarnessFileError, `${JSON.stringify(change)}: ${error?.stack ?? "accepted"}`);
  assert.deepEqual([error.code, error.details?.option], ["FS_INVALID_OPTION", option], error.message);
}

test("options are checked", () => {
  for (const bad of [undefined, null, 7, {}, { send: true }]) refused({ client: bad }, "client");
  for (const bad of [undefined, "", 7, "x".repeat(141), "a\nb"]) refused({ bucket: bad }, "bucket");
  const prefixes = [
    undefined,
    "",
    "users",
    "/users",
    7,
    "a/../b/",
    "../",
    "./",
    "a\0/",
    "\ud800/",
    `${"x".repeat(900)}/`,
  ];
  for (const bad of prefixes) refused({ prefix: bad }, "prefix");
  for (const bad of [0, -1, 1.5, 257, "16", Infinity]) refused({ concurrency: bad }, "concurrency");
  for (const bad of [null, 0, "false"]) refused({ conditional: bad }, "conditional");
  refused({ commit: "never" }, "commit");
  refused({ harnessDir: undefined }, "harnessDir");
  for (const change of [{}, { conditional: false }, { concurrency: 256 }, { prefix: "/" }, { prefix: "a..b/.../" }])
    assert.deepEqual(Object.keys(s3Dir({ ...good, ...change })), ["harnessDir"]);
  const accessPoint = `arn:aws-us-gov:s3:us-gov-west-1:123456789012:accesspoint/${"x".repeat(50)}`;
  s3Dir({ ...good, bucket: accessPoint });
});

test("a prefix that a function gives is checked as well", async (t) => {
  const later = async () => {
    throw new Error("nobody waits for it");
  };
  for (const prefix of [() => "", () => "no-slash", () => "users/../other/", () => undefined, later]) {
    const h = await withDirs(t, [s3Dir({ ...good, prefix })]);
    const error = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
    assert.match(String(error.cause?.message), /prefix/);
  }
});

test("bucket and prefix are the scope; the prefix is asked for with extraBody and the session's id", async (t) => {
  const asked = [];
  const prefix = (ctx) => {
    asked.push(ctx);
    return `${ctx.extraBody?.user ?? "nobody"}/`;
  };
  const seen = [];
  const listing = {
    async send({ input }) {
      seen.push(input);
      return { Contents: [] };
    },
  };
  const h = await withDirs(t, [s3Dir({ ...good, client: listing, prefix })]);
  await inTurn(h.main, undefined, { extraBody: { user: "ann" } });
  assert.deepEqual(asked[0], { extraBody: { user: "ann" }, sessionId: "test" });
  assert.deepEqual(
    seen.map(({ Bucket, Prefix }) => [Bucket, Prefix]),
    [["bucket", "ann/"]],
  );
});

test("an answer that is none does not empty the dir", async (t) => {
  const answers = [
    { Contents: [{ Key: "users/ann/a", ETag: '"1"' }] },
    { ETag: '"1"' },
    undefined,
    { Contents: [], IsTruncated: true },
  ];
  const h = await withDirs(t, [s3Dir({ ...good, client: { send: async () => answers.shift() } })]);
  await inTurn(h.main);
  for (let n = 0; n < 2; n++) await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED");
  assert.deepEqual([...filesOf(h.roots.persistent["/persistent/user"]).keys()], ["a"]);
});

test("a server that lists what is not below the prefix brings nobody else's files in", async (t) => {
  const asked = [];
  const Contents = ["users/bob/secret", "users/annabel/x", "users/ann/mine"].map((Key) => ({ Key, ETag: '"1"' }));
  const straying = {
    send: async ({ input }) => {
      if (input.Key === undefined) return { Contents };
      asked.push(input.Key);
      return { ETag: '"1"' };
    },
  };
  const h = await withDirs(t, [s3Dir({ ...good, client: straying })]);
  await inTurn(h.main);
  assert.deepEqual([...filesOf(h.roots.persistent["/persistent/user"]).keys()], ["mine"]);
  assert.deepEqual(asked, ["users/ann/mine"]);
});

test("without @aws-sdk/client-s3 the entry loads, and a load says what is missing", async (t) => {
  const entry = copyPackage(t);
  const { localHost } = await import(entry);
  const copy = await import(new URL("./s3.js", entry));
  const dataDir = path.join(tempDir(t), "data");
  const host = localHost({ dataDir, persistentDirs: [copy.s3Dir(good)] });
  after(t, () => host.close());
  const session = await host.sessions.getOrCreate({ id: "test" });
  const error = await session.beginTurn().catch((thrown) => thrown);
  assert.equal(error.code, "FS_LOAD_FAILED");
  assert.match(error.message, /needs the package @aws-sdk\/client-s3/);
  assert.ok(error.cause instanceof Error);
});
