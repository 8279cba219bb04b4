// The two stores. In your app only one of these functions is left, with your own client in it.
const harnessDir = "/persistent/memory";

/** `settings`: what the first program of the example hands to the machines. */
export async function openStore(settings) {
  return settings.kind === "postgres" ? postgresStore(settings) : s3Store(settings);
}

async function postgresStore({ url }) {
  const { default: pg } = await import("pg");
  const { createSchema, postgresDir } = await import("@little-stack/files/postgres");
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {}); // an idle connection was closed; the next query gets another one
  await createSchema(pool); // by every machine, at the same time if it must be
  const scope = ({ extraBody }) => `user/${extraBody.user}`;
  return { dir: postgresDir({ pool, harnessDir, scope }), close: () => pool.end() };
}

async function s3Store({ bucket, client: options }) {
  const { S3Client } = await import("@aws-sdk/client-s3");
  const { s3Dir } = await import("@little-stack/files/s3");
  const client = new S3Client(options);
  const prefix = ({ extraBody }) => `users/${extraBody.user}/memory/`;
  return { dir: s3Dir({ client, bucket, harnessDir, prefix }), close: async () => client.destroy() };
}
