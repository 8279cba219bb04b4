// The entry "./postgres". The contract is kept by hand in postgres.d.ts; here the compiler proves that both agree.
import type { StoreDir } from "../index.js";
import type { postgresDir as Contract } from "../postgres.js";
import * as check from "./check.js";
import { storeDir } from "./persistent/dirs.js";
import { poolOf, scopeOf } from "./postgres/options.js";
import { PostgresStore } from "./postgres/store.js";
import { tablesOf } from "./postgres/tables.js";

export { createSchema } from "./postgres/schema.js";

export function postgresDir<T = unknown>(dir: Parameters<typeof Contract<T>>[0]): StoreDir<T> {
  return check.readOptions(dir, (given) =>
    storeDir(given, new PostgresStore(poolOf(given), tablesOf(given), scopeOf(given))),
  );
}

type Wanted = typeof import("../postgres.js");
type Implementation = typeof import("./postgres.js");
type Proof<Asked, Given extends Asked> = [Asked, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Wanted, Implementation> & Proof<keyof Implementation, keyof Wanted>;
