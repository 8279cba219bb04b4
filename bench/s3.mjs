// Persistent Dirs on S3, against a loop over the same client with as many requests at once. BENCH_S3=http://host:port names
// another server than the one of the tests; its bucket "little-files" has to be there.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { s3Dir } from "@little-stack/files/s3";
import { BUCKET, prepareS3, startS3 } from "../scripts/engines/s3.mjs";
import { compare, row } from "./harness.mjs";
import { nodeWrite, ours, sha256, withSession } from "./peers.mjs";

const AT_ONCE = 16;
const loop = "a loop over the client";
const harnessDir = "/persistent/bench";

export async function s3({ quick }) {
  const missing = process.env.BENCH_S3 === undefined ? await prepareS3() : undefined;
  if (missing !== undefined) {
    console.error(`The group s3 did not run: ${missing}.`);
    return [];
  }
  const server = process.env.BENCH_S3 === undefined ? await startS3() : undefined;
  const client = new S3Client({
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
    endpoint: process.env.BENCH_S3 ?? `http://127.0.0.1:${server.port}`,
  });
  try {
    return [...(await loads(client, quick)), ...(await commits(client, quick))];
  } finally {
    client.destroy();
    await server?.stop();
  }
}

async function loads(client, quick) {
  const count = quick ? 100 : 1_000;
  const prefix = `${randomUUID()}/`;
  const objects = Array.from({ length: count }, (_, n) => [`${n % 10}/${n}.txt`, Buffer.alloc(4_096, `${n} `)]);
  await each(objects, ([name, Body]) => put(client, prefix + name, Body));
  const name = count.toLocaleString("en");
  const title = `S3, ${name} objects of 4 KiB: first load`;
  const results = await compare(
    title,
    {
      async [ours](folder) {
        const counting = counted(client);
        return withDir(folder, counting, prefix, async (session) => {
          const time = await timed(async () => (await session.beginTurn()).finish());
          const before = counting.requests;
          await (await session.beginTurn()).finish();
          return { time, requests: counting.requests - before };
        });
      },
      [loop]: async (folder) => ({ time: await timed(() => download(client, prefix, folder)), requests: 1 + count }),
    },
    { rounds: quick ? 1 : 5 },
  );
  return [
    row(title, results, "time", "ms"),
    row(`S3, ${name} objects, none changed: a turn`, results, "requests", "requests"),
  ];
}

async function commits(client, quick) {
  const count = quick ? 20 : 100;
  const files = Array.from({ length: count }, (_, n) => [`${n % 10}/${n}.txt`, Buffer.alloc(4_096, `${n} `)]);
  const title = `S3, ${count} new files of 4 KiB: commit`;
  const results = await compare(
    title,
    {
      [ours]: (folder) =>
        withDir(folder, client, `${randomUUID()}/`, async (session) => {
          const turn = await session.beginTurn();
          for (const [name, content] of files) await turn.files.write(`${harnessDir}/${name}`, content);
          return { time: await timed(() => turn.finish()) };
        }),
      async [loop](folder) {
        await each(files, async ([name, content]) => {
          await mkdir(dirname(join(folder, name)), { recursive: true });
          await nodeWrite(join(folder, name), content);
        });
        return { time: await timed(() => upload(client, folder, `${randomUUID()}/`)) };
      },
    },
    { rounds: quick ? 1 : 7 },
  );
  return [row(title, results, "time", "ms")];
}

function withDir(folder, client, prefix, work) {
  const persistentDirs = [s3Dir({ client, bucket: BUCKET, prefix, harnessDir, concurrency: AT_ONCE })];
  return withSession(folder, { persistentDirs }, work);
}

function counted(client) {
  return {
    requests: 0,
    send(command, options) {
      this.requests++;
      return client.send(command, options);
    },
  };
}

/** What a careful loop does: lists, fetches, and writes files that appear whole. */
async function download(client, prefix, folder) {
  for (let ContinuationToken; ;) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: prefix, ContinuationToken }));
    await each(page.Contents, async ({ Key }) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      const file = join(folder, Key);
      await mkdir(dirname(file), { recursive: true });
      await nodeWrite(file, await Body.transformToByteArray());
    });
    ContinuationToken = page.NextContinuationToken;
    if (ContinuationToken === undefined) return;
  }
}

/** What a careful loop does: looks at what is there, then sends each file unless it is there by now. */
async function upload(client, folder, prefix) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  await client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: prefix }));
  const found = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  await each(found, async (file) => put(client, prefix + relative(folder, file), await readFile(file)));
}

function put(client, Key, Body) {
  const Metadata = { sha256: sha256(Body) };
  return client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, Metadata, IfNoneMatch: "*" }));
}

async function each(items, work) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
