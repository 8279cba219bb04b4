// A PostgreSQL server for a suite, ended with it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { createSchema } from "@little-stack/files/postgres";
import { findPostgres, startPostgres } from "../../../scripts/engines/postgres.mjs";
import { Wire } from "./wire.mjs";

/**
 * Gives { server, pool, wire }, with the tables made: `pool` is a superuser's and goes to the server itself, `wire` leads there by a
 * proxy that can fail. undefined where there is no PostgreSQL: the suite then says so, and fails in CI.
 */
export async function postgresSuite(settings = {}) {
  const { missing } = findPostgres();
  if (missing) {
    const skip = process.env.CI ? false : missing;
    test(`NOT RUN: ${missing}`, { skip }, () => assert.fail(missing));
    return undefined;
  }
  const server = await startPostgres(settings);
  const pool = new pg.Pool({ connectionString: server.url, max: 8 });
  pool.on("error", () => {}); // the server is killed now and then
  await createSchema(pool);
  const wire = await Wire.open(server);
  after(async () => {
    await wire.close();
    await pool.end();
    await server.stop();
  });
  return { server, pool, wire };
}
