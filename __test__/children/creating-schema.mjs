// creating-schema.mjs URL TABLE: one of several processes that start at the same time.
import pg from "pg";
import { createSchema } from "@little-stack/files/postgres";

const [connectionString, table] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString });
await createSchema(pool, { table });
await pool.end();
