// A session over postgresDir for tests that look at single queries: its pool leads through a proxy of its own.
import { randomUUID } from "node:crypto";
import { postgresDir } from "@little-stack/files/postgres";
import { after } from "../host.mjs";
import { withDirs, DIR } from "../persistent/session.mjs";
import * as outside from "./outside.mjs";
import { Proxy } from "./proxy.mjs";
import { poolOf } from "./store.mjs";

/**
 * What `withDirs` gives, and { proxy, pool, scope, write, remove, read }; the last three are another program's, on the server itself.
 * `pool`: options of the pool; `dir`: of postgresDir.
 */
export async function withPostgres(t, suite, { pool: poolOptions, dir, ...options } = {}) {
  const proxy = await Proxy.open(suite.server.port);
  after(t, () => proxy.close());
  const pool = poolOf({ port: proxy.port, password: suite.server.password }, poolOptions);
  after(t, () => pool.end());
  const scope = dir?.scope ?? randomUUID();
  const declare = (more) => [postgresDir({ pool, scope, harnessDir: DIR, ...dir, ...more })];
  const h = await withDirs(t, declare(), options);
  const other = {
    write: (name, content) => outside.write(suite.pool, scope, name, Buffer.from(content)),
    remove: (name) => outside.remove(suite.pool, scope, name),
    read: async () => new Map(await outside.read(suite.pool, scope)),
  };
  return { ...h, ...other, proxy, pool, scope, declare };
}
