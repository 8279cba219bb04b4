// The S3 part of docs/stores.md runs as it is pasted, and so does the example of two machines.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { CreateBucketCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { BUCKET } from "../scripts/engines/s3.mjs";
import { after, tempDir } from "./support/host.mjs";
import { startProgram } from "./support/process.mjs";
import { clientAt } from "./support/s3/client.mjs";
import { s3Server } from "./support/s3/server.mjs";

const root = path.join(import.meta.dirname, "..");
const page = fs.readFileSync(path.join(root, "docs/stores.md"), "utf8");

/** The bucket of the page, on the server of the tests, and the environment that leads a client of the SDK there. */
async function bucketOfThePage(t) {
  const server = await s3Server(t);
  if (server === undefined) return undefined;
  const client = clientAt(() => server.port);
  after(t, () => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: "my-app" }));
  const env = {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${server.port}`,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  };
  return { client, env };
}

function pasted(pattern) {
  const found = pattern.exec(page);
  assert.ok(found, `docs/stores.md has nothing like ${pattern}`);
  return found[1];
}

async function run(t, program, env) {
  const args = ["--input-type=module", "-e", program];
  const { code, stdout, stderr } = await startProgram(t, process.execPath, args, { cwd: root, env }).ended;
  assert.equal(code, 0, stderr);
  return stdout;
}

test("the examples of the page", async (t) => {
  const bucket = await bucketOfThePage(t);
  if (bucket === undefined) return;
  const example = pasted(/\n## S3\n\n```js\n([^]*?)```/);
  const probe = pasted(/```js\n(import \{ PutObjectCommand\b[^]*?)```/);
  const data = path.join(tempDir(t), "data");
  const program = `${example.replace('".little-harness"', JSON.stringify(data))}
    const session = await host.sessions.getOrCreate({ id: "chat", extraBody: { userId: "ada" } });
    await session.files.writeText("/persistent/user/notes.md", "hello");
    await host.close();`;
  await run(t, program, bucket.env);
  assert.equal(await run(t, probe, bucket.env), "[ 'written', 'PreconditionFailed' ]\n");
  const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket: "my-app" }));
  assert.deepEqual(
    Contents.map(({ Key }) => Key),
    ["probe", "users/ada/notes.md"],
  );
});

test("two machines", { timeout: 120_000 }, async (t) => {
  const server = await s3Server(t);
  if (server === undefined) return;
  const env = {
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  };
  const args = ["examples/two-machines.mjs", "s3"];
  const { code, stdout, stderr } = await startProgram(t, process.execPath, args, { cwd: root, env }).ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /All 10 checks passed/);
});
