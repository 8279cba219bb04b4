// What `postgresDir` is given.
import { ignore } from "../cancellation.js";
import * as check from "../check.js";
import { HarnessFileError, describe } from "../errors.js";
import type { ScopeContext } from "../persistent/store.js";
import type { Pool } from "./connection.js";
import { MAX_SCOPE_BYTES } from "./tables.js";

/** As it is, or as it is given for a session. */
export type ScopeOf = string | ((ctx: ScopeContext) => string);

/** Structural: of whatever copy of `pg`, or what looks like it. */
export function poolOf(given: check.Options): Pool {
  const pool = given["pool"];
  if (typeof pool === "object" && pool !== null && typeof (pool as Partial<Pool>).connect === "function")
    return pool as Pool;
  throw check.invalidOption("pool", "a Pool of pg", pool);
}

export function scopeOf(given: check.Options): ScopeOf {
  const scope = given["scope"];
  if (typeof scope === "function") {
    const bound = (scope as (ctx: ScopeContext) => unknown).bind(given);
    return (ctx) => checked(bound(ctx), "scope must give");
  }
  return checked(scope, "scope must be");
}

function checked(scope: unknown, must: string): string {
  const fits = typeof scope === "string" && scope !== "" && scope.length <= MAX_SCOPE_BYTES && scope.isWellFormed();
  if (fits && Buffer.byteLength(scope) <= MAX_SCOPE_BYTES && !scope.includes("\0")) return scope;
  if (scope instanceof Promise) scope.catch(ignore); // nobody else waits for it
  const message = `${must} a string of 1 to ${MAX_SCOPE_BYTES} bytes without NUL, not ${describe(scope)}`;
  throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "scope" } });
}
