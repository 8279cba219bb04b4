// PostgreSQL as a store of the conformance suite and the model; see support/persistent/stores.mjs for what that is.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { postgresDir } from "@little-stack/files/postgres";
import { after } from "../host.mjs";

/** A new, empty store of a suite's server. */
export const newStore = (suite) => (t) => {
  const spec = {
    module: import.meta.url,
    kind: "postgres",
    port: suite.wire.port,
    password: suite.wire.password,
    prefix: randomUUID(),
  };
  const store = new PostgresTestStore(spec, suite.wire);
  after(t, async () => {
    suite.wire.ask("heal");
    await store.pool.end();
  });
  return store;
};

export function openStore(spec) {
  return new PostgresTestStore(spec);
}

export function poolOf({ port, password }, more = {}) {
  const pool = new pg.Pool({
    host: "127.0.0.1",
    port,
    user: "postgres",
    password,
    allowExitOnIdle: true,
    connectionTimeoutMillis: 10_000,
    ...more,
  });
  pool.on("error", () => {}); // of idle clients: the connection is cut now and then
  return pool;
}

class PostgresTestStore {
  kind = "postgres";
  atomic = true;
  detects = true;
  faults = ["before", "after"];
  #wire;

  constructor(spec, wire) {
    this.spec = spec;
    this.#wire = wire;
    this.pool = poolOf(spec);
  }

  #scope = (user = "shared") => `${this.spec.prefix}/${user}`;

  read(user) {
    return new Map(this.#wire.ask("read", this.#scope(user)).map(([path, bytes]) => [path, Buffer.from(bytes)]));
  }
  write(name, content, user) {
    this.#wire.ask("write", this.#scope(user), name, Buffer.from(content));
  }
  remove(name, user) {
    this.#wire.ask("remove", this.#scope(user), name);
  }

  fail(k, when) {
    this.#wire.ask("fail", k, when);
    return () => this.#wire.ask("heal");
  }

  dir({ harnessDir, commit }) {
    return postgresDir({
      pool: this.pool,
      scope: ({ extraBody }) => this.#scope(extraBody?.user),
      harnessDir,
      ...(commit && { commit }),
    });
  }
}
