// A scope of the tables behind a Persistent Dir.
import type { LoadContext } from "../../index.js";
import type { CommitContext, Loading, Outgoing, ScopeContext, Store } from "../persistent/store.js";
import { type Committed, commit } from "./commit.js";
import type { Pool } from "./connection.js";
import { told } from "./failure.js";
import { load } from "./load.js";
import type { ScopeOf } from "./options.js";
import type { Tables } from "./tables.js";

export class PostgresStore implements Store {
  readonly kind = "postgres";
  readonly #pool: Pool;
  readonly #tables: Tables;
  readonly #scope: ScopeOf;
  /** Stands before the scope in its whole name. */
  readonly #above: string;

  constructor(pool: Pool, tables: Tables, scope: ScopeOf) {
    this.#pool = pool;
    this.#tables = tables;
    this.#scope = scope;
    this.#above = `${tables.name}/`;
  }

  scope(ctx: ScopeContext): string {
    return this.#above + (typeof this.#scope === "string" ? this.#scope : this.#scope(ctx));
  }

  overlaps(other: Store): boolean {
    if (!(other instanceof PostgresStore) || this.#pool !== other.#pool || this.#above !== other.#above) return false;
    return typeof this.#scope === "string" && this.#scope === other.#scope;
  }

  async load(ctx: LoadContext, loading: Loading, named: string): Promise<{ cursor?: unknown }> {
    const { harnessDir, abortSignal } = ctx;
    const scope = named.slice(this.#above.length);
    try {
      return await load(this.#pool, this.#tables, scope, ctx, loading);
    } catch (error) {
      abortSignal?.throwIfAborted();
      throw told("FS_LOAD_FAILED", `The Persistent Dir ${harnessDir} could not be loaded`, error, harnessDir);
    }
  }

  async commitAll(ctx: CommitContext, changes: Outgoing, named: string): Promise<Committed> {
    const { harnessDir, abortSignal } = ctx;
    const scope = named.slice(this.#above.length);
    try {
      return await commit(this.#pool, this.#tables, scope, ctx, changes);
    } catch (error) {
      abortSignal?.throwIfAborted();
      const what = `The Persistent Dir ${harnessDir} could not be committed; its changes stay pending`;
      throw told("FS_COMMIT_FAILED", what, error, harnessDir);
    }
  }
}
