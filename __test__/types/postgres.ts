// Declaring a `postgresDir`: it takes the pool of `pg`, knows the host's extraBody, and is a Persistent Dir of the host.
import { type StoreDir, localHost } from "@little-stack/files";
import { type PostgresPool, createSchema, postgresDir } from "@little-stack/files/postgres";
import { Pool } from "pg";
import { same } from "./expect.js";

interface Body {
  userId: string;
}

const pool = new Pool();
const given = { pool, harnessDir: "/persistent/user" };

export function declaredInPlace(): void {
  localHost<Body>({
    persistentDirs: [
      postgresDir({ ...given, scope: ({ extraBody }) => `user/${extraBody?.userId}` }),
      postgresDir({ ...given, scope: "shared", commit: "read-only", table: "app.files" }),
    ],
  });
}

/** By its shape: a pool that is wrapped, or stands in for one. */
export function takenByShape(): void {
  const query = async () => ({ rows: [], rowCount: null });
  postgresDir({
    pool: { connect: async () => ({ query, release() {} }) },
    scope: "shared",
    harnessDir: "/persistent/user",
  });
  class Watched extends Pool {}
  postgresDir({ pool: new Watched(), scope: "shared", harnessDir: "/persistent/user" });
}

export function declaredBefore(): StoreDir<Body> {
  const dir = postgresDir<Body>({
    ...given,
    scope: ({ extraBody, sessionId }) => {
      same<typeof extraBody, Body | undefined>();
      same<typeof sessionId, string>();
      return "user";
    },
  });
  same<typeof dir, StoreDir<Body>>();
  return dir;
}

export async function schema(): Promise<void> {
  same<ReturnType<typeof createSchema>, Promise<void>>();
  await createSchema(pool);
  await createSchema(pool, { table: "app.files" });
  const taken: PostgresPool = pool;
  await createSchema(taken);
}

export function refused(): void {
  // @ts-expect-error: a dir for another extraBody
  localHost<{ other: number }>({ persistentDirs: [declaredBefore()] });
  // @ts-expect-error: a scope is a string
  postgresDir({ ...given, scope: () => 7 });
  // @ts-expect-error: a scope has to be named
  postgresDir(given);
  // @ts-expect-error: no pool
  postgresDir({ pool: {}, scope: "shared", harnessDir: "/persistent/user" });
}
