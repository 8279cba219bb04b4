// Which store: one of yours, by DATABASE_URL or S3_BUCKET, else a server of our own for as long as the example runs.
import { randomUUID } from "node:crypto";

/** Gives { settings, says, stop() }, or { missing } with the reason. `wanted`: "postgres" or "s3". */
export async function chooseStore(wanted) {
  const { DATABASE_URL, S3_BUCKET, S3_ENDPOINT } = process.env;
  const kind = wanted ?? (S3_BUCKET !== undefined && DATABASE_URL === undefined ? "s3" : "postgres");
  if (kind === "postgres") return DATABASE_URL === undefined ? ownPostgres() : yours({ kind, url: DATABASE_URL });
  if (S3_BUCKET === undefined) return ownS3();
  const client = S3_ENDPOINT === undefined ? {} : { endpoint: S3_ENDPOINT, forcePathStyle: true };
  return yours({ kind, bucket: S3_BUCKET, client });
}

/** A user of its own: nothing of yours is touched. */
function yours(settings) {
  const user = `example-${randomUUID()}`;
  return { settings: { ...settings, user }, says: `your ${settings.kind} store, as ${user}`, stop: async () => {} };
}

async function ownPostgres() {
  const { preparePostgres, startPostgres } = await import("../../scripts/engines/postgres.mjs");
  const missing = await preparePostgres();
  if (missing !== undefined) return { missing };
  const server = await startPostgres();
  return {
    settings: { kind: "postgres", url: server.url, user: "ada" },
    says: `PostgreSQL ${server.version}, started for this example (DATABASE_URL=… names yours)`,
    stop: () => server.stop(),
  };
}

async function ownS3() {
  const { BUCKET, prepareS3, startS3 } = await import("../../scripts/engines/s3.mjs");
  const missing = await prepareS3();
  if (missing !== undefined) return { missing };
  const server = await startS3();
  const client = {
    endpoint: `http://127.0.0.1:${server.port}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "example", secretAccessKey: "example" },
  };
  return {
    settings: { kind: "s3", bucket: BUCKET, client, user: "ada" },
    says: "an S3 server, started for this example (S3_BUCKET=… names yours, with S3_ENDPOINT=… where it is not AWS)",
    stop: () => server.stop(),
  };
}
