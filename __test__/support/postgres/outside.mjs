// Another program on the tables, by the SQL that docs/stores.md gives to other programs.

export const TAKE_SCOPE = `INSERT INTO harness_files_scopes AS s (scope) VALUES ($1)
ON CONFLICT (scope) DO UPDATE SET change = s.change + 1`;

export const DROP_CONTENT = `DELETE FROM harness_files_chunks
WHERE content = (SELECT content FROM harness_files WHERE scope = $1 AND path = $2)`;

export const PUT_CHUNK = "INSERT INTO harness_files_chunks (content, part, data) VALUES ($1, $2, $3)";

export const PUT_FILE = `INSERT INTO harness_files (scope, path, change, content, bytes, sha256)
SELECT scope, $2, change, $3, $4, $5 FROM harness_files_scopes WHERE scope = $1
ON CONFLICT (scope, path_key) DO UPDATE SET change = excluded.change, content = excluded.content, bytes = excluded.bytes,
  sha256 = excluded.sha256, media_type = NULL, commit_id = NULL, changed_at = now()`;

export const REMOVE_FILE = `UPDATE harness_files f SET change = s.change, content = NULL, bytes = NULL, sha256 = NULL,
  media_type = NULL, commit_id = NULL, changed_at = now()
FROM harness_files_scopes s WHERE s.scope = $1 AND f.scope = $1 AND f.path = $2`;

export const READ_FILE = `SELECT c.data FROM harness_files f JOIN harness_files_chunks c USING (content)
WHERE f.scope = $1 AND f.path = $2 ORDER BY c.part`;

import { createHash, randomUUID } from "node:crypto";

const CHUNK = 1024 * 1024;

async function inTransaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

export function write(pool, scope, path, bytes) {
  return inTransaction(pool, async (client) => {
    await client.query(TAKE_SCOPE, [scope]);
    await client.query(DROP_CONTENT, [scope, path]);
    const content = randomUUID();
    for (let part = 0; part * CHUNK < bytes.length; part++)
      await client.query(PUT_CHUNK, [content, part, bytes.subarray(part * CHUNK, (part + 1) * CHUNK)]);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await client.query(PUT_FILE, [scope, path, content, bytes.length, sha256]);
  });
}

export function remove(pool, scope, path) {
  return inTransaction(pool, async (client) => {
    await client.query(TAKE_SCOPE, [scope]);
    await client.query(DROP_CONTENT, [scope, path]);
    await client.query(REMOVE_FILE, [scope, path]);
  });
}

/** [path, bytes] of all files of a scope, sorted. */
export async function read(pool, scope) {
  const { rows } = await pool.query(
    `SELECT f.path, f.bytes::int AS bytes, c.data FROM harness_files f LEFT JOIN harness_files_chunks c USING (content)
     WHERE f.scope = $1 AND f.content IS NOT NULL ORDER BY f.path, c.part`,
    [scope],
  );
  const files = new Map();
  for (const { path, data } of rows) files.set(path, [...(files.get(path) ?? []), ...(data === null ? [] : [data])]);
  return [...files].map(([path, parts]) => [path, Buffer.concat(parts)]);
}
