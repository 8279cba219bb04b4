// The client is taken by its shape: what only has `send` will do, whatever it hands out as a body.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { s3Dir } from "@little-stack/files/s3";
import { rejectsWith } from "./support/host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  finish,
  inTurn,
  pendingOf,
  withDirs,
  withStore,
} from "./support/persistent/session.mjs";
import { until } from "./support/process.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const etagOf = (bytes) => `"${createHash("md5").update(bytes).digest("hex")}"`;

const refused = (name, status) =>
  Object.assign(new Error("the key is AKIASECRET"), { name, $metadata: { httpStatusCode: status } });

/** A bucket in memory, no more than `s3Dir` needs of one. `body`: what a GET hands out for these bytes. */
function bucketWith(body) {
  const objects = new Map();
  const answers = {
    ListObjectsV2Command: ({ Prefix }) => ({
      Contents: [...objects]
        .filter(([Key]) => Key.startsWith(Prefix))
        .map(([Key, bytes]) => ({ Key, ETag: etagOf(bytes) })),
    }),
    GetObjectCommand: ({ Key }) => {
      const bytes = objects.get(Key);
      return { Body: body(bytes), ContentLength: bytes.length, ETag: etagOf(bytes) };
    },
    PutObjectCommand({ Key, Body, IfMatch }) {
      if (IfMatch !== undefined && IfMatch !== etagOf(objects.get(Key))) throw refused("PreconditionFailed", 412);
      objects.set(Key, Buffer.from(Body));
      return { ETag: etagOf(Body) };
    },
  };
  return { objects, send: async ({ constructor, input }) => answers[constructor.name](input) };
}

for (const [name, body] of Object.entries({
  bytes: (bytes) => new Uint8Array(bytes),
  text: (bytes) => bytes.toString(),
  "a Blob": (bytes) => new Blob([bytes]),
  "a stream of Node": (bytes) => Readable.from([bytes]),
  "a stream of the web": (bytes) => new Blob([bytes]).stream(),
})) {
  test(`a client that only has \`send\`, whose bodies are ${name}`, async (t) => {
    const client = bucketWith(body);
    client.objects.set("ann/a", Buffer.from("theirs"));
    client.objects.set("ann/empty", Buffer.alloc(0));
    const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
    const finished = await inTurn(h.main, async (files) => {
      assert.equal((await files.read(at("a"))).text(), "theirs");
      await files.write(at("b"), "ours");
    });
    assertLanded(finished.persistence, { created: 1 });
    assertHolds(filesOf(h.checkout), { a: "theirs", b: "ours", empty: "" });
    assert.equal(client.objects.get("ann/b").toString(), "ours");
  });
}

test("a wrapped client sends large files: the checksums of the parts are announced", async (t) => {
  const store = await newS3Store()(t);
  if (store === undefined) return;
  const { client } = store;
  store.client = { send: (...args) => client.send(...args), destroy: () => client.destroy() };
  const h = await withStore(t, store);
  const large = Buffer.alloc(9 << 20, "large");
  assertLanded((await inTurn(h.main, (files) => files.write(at("large"), large))).persistence, { created: 1 });
  assertHolds(store.read(), { large });
  // S3 refuses an upload whose parts have a checksum that its start did not name; moto does not look.
  const start = store.calls.find(({ query }) => query.uploads !== undefined);
  const parts = store.calls.filter(({ query }) => query.partNumber !== undefined);
  assert.equal(start.headers["x-amz-checksum-algorithm"], "CRC32");
  assert.equal(parts.length, 2);
  for (const { headers } of parts)
    assert.ok(headers["x-amz-checksum-crc32"] ?? headers["x-amz-trailer"] === "x-amz-checksum-crc32");
});

for (const conditional of [undefined, false]) {
  test(`a server that writes ETags in two ways is no reason to fetch again (conditional: ${conditional})`, async (t) => {
    const client = bucketWith((bytes) => bytes);
    client.objects.set("ann/a", Buffer.from("theirs"));
    const asked = [];
    const odd = {
      async send(command) {
        const name = command.constructor.name;
        asked.push(name);
        if (name === "HeadObjectCommand") {
          const bytes = client.objects.get(command.input.Key);
          return { ETag: `W/${etagOf(bytes)}`, ContentLength: bytes.length };
        }
        const answer = await client.send(command);
        return name === "GetObjectCommand" ? { ...answer, ETag: `W/${answer.ETag}` } : answer;
      },
    };
    const options = { client: odd, bucket: "bucket", prefix: "ann/", ...(conditional === false && { conditional }) };
    const h = await withDirs(t, [s3Dir({ ...options, harnessDir: DIR })]);
    await inTurn(h.main);
    asked.length = 0;
    assertLanded((await inTurn(h.main)).persistence, {});
    assert.deepEqual(asked, ["ListObjectsV2Command"]);
    assertLanded((await inTurn(h.main, (files) => files.write(at("a"), "ours"))).persistence, { updated: 1 });
    assert.equal(client.objects.get("ann/a").toString(), "ours");
  });
}

test("a prefix function that answers otherwise in mid-commit, as one of a global does: all goes where it was loaded from", async (t) => {
  const client = bucketWith((bytes) => bytes);
  client.objects.set("ann/a", Buffer.from("of ann"));
  let user = "ann";
  const switching = {
    send(command) {
      user = "bob";
      return client.send(command);
    },
  };
  const h = await withDirs(t, [
    s3Dir({ client: switching, bucket: "bucket", prefix: () => `${user}/`, harnessDir: DIR }),
  ]);
  const turn = await h.main.beginTurn();
  await turn.files.write(at("b"), "ours");
  user = "ann";
  assertLanded((await finish(turn)).persistence, { created: 1 });
  assert.deepEqual([...client.objects.keys()], ["ann/a", "ann/b"]);
});

/** What a GET hands out for a content of which only the first half comes. */
const HALVES = {
  "small, collected": [100, (half) => ({ transformToByteArray: async () => half })],
  "small, streamed": [100, (half) => Readable.from([half])],
  "large, that ends early": [3 << 20, (half) => Readable.from([half])],
  "large, that breaks off": [
    3 << 20,
    (half) =>
      Readable.from(
        (async function* () {
          yield half;
          throw new Error("the key is AKIASECRET");
        })(),
      ),
  ],
};
for (const [name, [bytes, body]] of Object.entries(HALVES)) {
  test(`a content that does not come whole does not come in: ${name}`, async (t) => {
    const whole = Buffer.alloc(bytes, "theirs");
    const client = bucketWith((content) => (content === whole ? body(content.subarray(0, bytes / 2)) : content));
    client.objects.set("ann/a", Buffer.from("old"));
    const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
    await inTurn(h.main);
    client.objects.set("ann/a", whole);
    const { message } = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", {
      message: /content of file a broke off/,
    });
    assert.doesNotMatch(message, /AKIASECRET/);
    assertHolds(filesOf(h.checkout), { a: "old" });
    client.objects.set("ann/a", Buffer.from(whole));
    await inTurn(h.main);
    assertHolds(filesOf(h.checkout), { a: whole });
  });
}

for (const bytes of [100, 3 << 20]) {
  test(`a signal ends a content of ${bytes} bytes that is on its way`, async (t) => {
    const abort = new AbortController();
    let body;
    const client = bucketWith(() => {
      body = new Readable({ read: () => setImmediate(() => abort.abort(new Error("enough"))) });
      body.transformToByteArray = async () => Buffer.concat(await body.toArray());
      body.push(Buffer.alloc(10));
      return body;
    });
    client.objects.set("ann/a", Buffer.alloc(bytes));
    const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
    await rejectsWith(h.main.beginTurn({ signal: abort.signal }), "FS_ABORTED");
    await until(() => body.destroyed, "its connection is let go of");
  });
}

test("no more requests at once than `concurrency` says, in a load of several pages and in a commit", async (t) => {
  const client = bucketWith((bytes) => bytes);
  for (let n = 0; n < 12; n++) client.objects.set(`ann/${n}`, Buffer.from(`${n}`));
  let open = 0;
  let most = 0;
  const counting = {
    async send(command) {
      most = Math.max(most, ++open);
      await nextTick();
      try {
        const answer = await client.send(command);
        if (command.constructor.name !== "ListObjectsV2Command") return answer;
        const from = Number(command.input.ContinuationToken ?? 0);
        const Contents = answer.Contents.slice(from, from + 5);
        return { Contents, IsTruncated: from + 5 < answer.Contents.length, NextContinuationToken: `${from + 5}` };
      } finally {
        open--;
      }
    },
  };
  for (const concurrency of [1, 3]) {
    most = 0;
    const options = { client: counting, bucket: "bucket", prefix: "ann/", concurrency };
    const h = await withDirs(t, [s3Dir({ ...options, harnessDir: DIR })]);
    const finished = await inTurn(h.main, async (files) => {
      for (let n = 0; n < 12; n++) await files.write(at(`${concurrency}-${n}`), "ours");
    });
    assertLanded(finished.persistence, { created: 12 });
    assert.equal(most, concurrency);
  }
});

test("a GET that is refused says of which file", async (t) => {
  const client = bucketWith(() => {
    throw refused("InvalidObjectState", 403);
  });
  client.objects.set("ann/a/b.txt", Buffer.from("cold"));
  const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /file a\/b\.txt .*must be restored/ });
});

test("a listing that goes on where it went on before ends", async (t) => {
  const page = { Contents: [], IsTruncated: true, NextContinuationToken: "again" };
  let asked = 0;
  const client = {
    async send() {
      if (++asked > 20) throw new Error("this does not end");
      return page;
    },
  };
  const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
  await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /goes on where it went on before/ });
  assert.ok(asked <= 3, `${asked} requests`);
});

for (const [why, answer] of Object.entries({
  "a string": () => Promise.reject("the key is AKIASECRET"),
  "at once": () => {
    throw new Error("the key is AKIASECRET");
  },
  "nothing to read": () => undefined,
})) {
  test(`a client that fails in its own way, with ${why}: a coded failure that shows nothing of it`, async (t) => {
    const h = await withDirs(t, [
      s3Dir({ client: { send: answer }, bucket: "bucket", prefix: "ann/", harnessDir: DIR }),
    ]);
    const { message } = await rejectsWith(h.main.beginTurn(), "FS_LOAD_FAILED", { message: /bucket/ });
    assert.doesNotMatch(message, /AKIASECRET/);
  });
}

for (const [name, status, text] of [
  ["CredentialsProviderError", undefined, /no valid credentials/],
  ["InvalidToken", 400, /no valid credentials/],
  ["TimeoutError", undefined, /no answer/],
  ["KMS.DisabledException", 400, /key that encrypts/],
  ["QuotaExceeded", 403, /no more room/],
  ["InternalError", 200, /server failed/],
]) {
  test(`${name} of a commit is told in words`, async (t) => {
    const client = bucketWith((bytes) => bytes);
    const { send } = client;
    const failure = refused(name, status);
    const h = await withDirs(t, [s3Dir({ client, bucket: "bucket", prefix: "ann/", harnessDir: DIR })]);
    client.send = (command) => (command.constructor.name.startsWith("Put") ? Promise.reject(failure) : send(command));
    const error = assertFailed(
      (await inTurn(h.main, (files) => files.write(at("a"), "new"))).persistence,
      "FS_COMMIT_FAILED",
    );
    assert.match(error.message, text);
    assert.doesNotMatch(error.message, /AKIASECRET/);
    assert.equal(error.cause, failure);
    assert.deepEqual(await pendingOf(h.main), ["created a"]);
    client.send = send;
    assertLanded(await h.persistence.commit(), { created: 1 });
  });
}
