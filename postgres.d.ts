// The entry "@little-stack/files/postgres": Persistent Dirs in PostgreSQL 13 or later, by the client `pg` 8.
// Kept by hand; the compiler checks ts/postgres.ts against it.
import type { CommitMode, StoreDir } from "./index.js";

/** A `Pool` of `pg`, as far as it is used. */
export interface PostgresPool {
  connect(): Promise<{
    query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>;
    release(error?: Error | boolean): void;
  }>;
}

/**
 * A Persistent Dir whose files are rows of one scope, such as a user, in the tables that {@link createSchema} makes. A commit is
 * one transaction, all or nothing; what others changed meanwhile is a conflict, never overwritten. A turn for which nothing has
 * changed costs one query. Contents travel in chunks of 1 MiB: files of any size need little memory here and on the server.
 *
 * Deadlocks, serialization failures and lost connections are tried again a few times, by a load until contents are on their way;
 * also when the connection was lost at COMMIT, since what has landed is found. What fails then is FS_LOAD_FAILED or FS_COMMIT_FAILED, with the client's error as
 * `cause`. One client of the pool is used at a time for each load or commit that is under way.
 *
 * @throws FS_INVALID_OPTION
 */
export function postgresDir<T = unknown>(dir: {
  /** Stays yours: it is never ended. */
  pool: PostgresPool;
  /**
   * Whose files: 1 to 900 bytes. A function is called for each load and commit. A change is only committed to the scope it was
   * loaded from.
   */
  scope: string | ((ctx: { extraBody?: T; sessionId: string }) => string);
  /** Below `/persistent/`, such as "/persistent/user". */
  harnessDir: string;
  /** Default "after-turn". */
  commit?: CommitMode;
  /** "name" or "schema.name", as given to {@link createSchema}; the case counts. Default "harness_files". */
  table?: string;
}): StoreDir<T>;

/**
 * Creates the three tables that `postgresDir` needs, where they are missing; safe to call by many processes at once, and by a
 * role that may not create them once they are there. Their SQL is in docs/stores.md for those who run it themselves.
 *
 * @throws FS_INVALID_OPTION, FS_IO_ERROR with the client's error as `cause`
 */
export function createSchema(pool: PostgresPool, options?: { table?: string }): Promise<void>;
