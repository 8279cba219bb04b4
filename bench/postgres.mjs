// Persistent Dirs in PostgreSQL, against a loop over the same client: loads with as many queries at once as the pool has
// connections, commits in a transaction. BENCH_POSTGRES=postgres://… names another server than the one of the tests.
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import { createSchema, postgresDir } from "@little-stack/files/postgres";
import { preparePostgres, startPostgres } from "../scripts/engines/postgres.mjs";
import { compare, row } from "./harness.mjs";
import { nodeWrite, ours, sha256, withSession } from "./peers.mjs";

const AT_ONCE = 4;
const loop = "a loop over the client";
const harnessDir = "/persistent/bench";
const table = "little_files_bench";

export async function postgres({ quick }) {
  const missing = process.env.BENCH_POSTGRES === undefined ? await preparePostgres() : undefined;
  if (missing !== undefined) {
    console.error(`The group postgres did not run: ${missing}.`);
    return [];
  }
  const server = process.env.BENCH_POSTGRES === undefined ? await startPostgres({ fsync: "on" }) : undefined;
  const pool = new pg.Pool({ connectionString: process.env.BENCH_POSTGRES ?? server.url, max: AT_ONCE });
  try {
    await createSchema(pool, { table });
    return [...(await loads(pool, quick)), ...(await commits(pool, quick))];
  } finally {
    await pool.end();
    await server?.stop();
  }
}

async function loads(pool, quick) {
  const count = quick ? 100 : 1_000;
  const scope = randomUUID();
  await inTransaction(pool, (client) => insert(client, scope, filesOf(count)));
  const name = count.toLocaleString("en");
  const title = `PostgreSQL, ${name} files of 4 KiB: first load`;
  const results = await compare(
    title,
    {
      async [ours](folder) {
        const counting = counted(pool);
        return withDir(folder, counting, scope, undefined, async (session) => {
          const time = await timed(async () => (await session.beginTurn()).finish());
          const before = counting.queries;
          await (await session.beginTurn()).finish();
          return { time, queries: counting.queries - before };
        });
      },
      [loop]: async (folder) => ({ time: await timed(() => download(pool, scope, folder)), queries: 1 }),
    },
    { rounds: quick ? 1 : 5 },
  );
  return [
    row(title, results, "time", "ms"),
    row(`PostgreSQL, ${name} files, none changed: a turn`, results, "queries", "queries"),
  ];
}

async function commits(pool, quick) {
  const count = quick ? 20 : 100;
  const files = filesOf(count);
  const title = `PostgreSQL, ${count} new files of 4 KiB: commit`;
  const results = await compare(
    title,
    {
      [ours]: (folder) =>
        withDir(folder, pool, randomUUID(), "manual", async (session) => {
          const turn = await session.beginTurn();
          for (const [name, content] of files) await turn.files.write(`${harnessDir}/${name}`, content);
          const finish = await timed(() => turn.finish());
          const time = await timed(() => session.persistence.commit());
          return { time, withFinish: finish + time };
        }),
      [loop]: async () => {
        const time = await timed(() => inTransaction(pool, (client) => insert(client, randomUUID(), files)));
        return { time, withFinish: time };
      },
    },
    { rounds: quick ? 1 : 7 },
  );
  return [
    row(title, results, "time", "ms"),
    row("… and the end of the turn, which flushes the local files", results, "withFinish", "ms"),
  ];
}

const filesOf = (count) =>
  Array.from({ length: count }, (_, n) => [`${n % 10}/${n}.txt`, Buffer.alloc(4_096, `${n} `)]);

function withDir(folder, pool, scope, commit, work) {
  return withSession(folder, { persistentDirs: [postgresDir({ pool, scope, harnessDir, table, commit })] }, work);
}

function counted(pool) {
  const counting = {
    queries: 0,
    async connect() {
      const client = await pool.connect();
      return {
        query(...args) {
          counting.queries++;
          return client.query(...args);
        },
        release: (error) => client.release(error),
      };
    },
  };
  return counting;
}

/** What a careful loop does: lists, fetches each file's content, and writes files that appear whole. */
async function download(pool, scope, folder) {
  const { rows } = await pool.query(`SELECT path, content FROM ${table} WHERE scope = $1 AND content IS NOT NULL`, [
    scope,
  ]);
  const rest = rows.values();
  const worker = async () => {
    for (const { path, content } of rest) {
      const found = await pool.query(`SELECT data FROM ${table}_chunks WHERE content = $1 ORDER BY part`, [content]);
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await nodeWrite(file, Buffer.concat(found.rows.map(({ data }) => data)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Two statements a file, as a plain loop has them. */
async function insert(client, scope, files) {
  const { rows } = await client.query(
    `INSERT INTO ${table}_scopes AS s (scope) VALUES ($1) ON CONFLICT (scope) DO UPDATE SET change = s.change + 1 RETURNING change`,
    [scope],
  );
  for (const [path, data] of files) {
    const content = randomUUID();
    await client.query(`INSERT INTO ${table}_chunks (content, part, data) VALUES ($1, 0, $2)`, [content, data]);
    await client.query(
      `INSERT INTO ${table} (scope, path, change, content, bytes, sha256) VALUES ($1, $2, $3, $4, $5, $6)`,
      [scope, path, rows[0].change, content, data.length, sha256(data)],
    );
  }
}

async function inTransaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await work(client);
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
