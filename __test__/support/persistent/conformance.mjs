// What every Persistent Dir does, whatever its store. `conformance("name", makeStore)` declares the tests; `makeStore(t)` gives
// a new, empty store as support/persistent/stores.mjs describes it, or undefined after it skipped the test.
//
// A store of another make needs { dir, read, write, remove, atomic, detects }; `fail` and `faults` where it can be made to
// fail, `failLoad` where `fail` leaves its loads alone, `calls` and `commitCalls` where it sees what is asked of it, `spec`
// ({ module, … }: its `openStore(spec)` opens the same store) where another process can open it. What it lacks, the cases about
// that are left out.
import { test } from "node:test";
import { withStore } from "./session.mjs";
import * as committing from "./conformance/committing.mjs";
import * as conflicts from "./conformance/conflicts.mjs";
import * as discarding from "./conformance/discarding.mjs";
import * as failing from "./conformance/failing.mjs";
import * as loading from "./conformance/loading.mjs";
import * as lost from "./conformance/lost-database.mjs";
import * as modes from "./conformance/modes.mjs";
import * as names from "./conformance/names.mjs";
import * as users from "./conformance/users.mjs";

const PARTS = [loading, committing, failing, conflicts, discarding, modes, users, names, lost];

export function conformance(name, makeStore) {
  /** `it(title, options?, async (t, h, store))`: `options` are those of `withStore`; `needs(store)` false leaves the case out. */
  const it = (title, options, body = options) => {
    const { timeout = 60_000, needs = () => true, ...hostOptions } = typeof options === "function" ? {} : options;
    test(`${name}: ${title}`, { timeout }, async (t) => {
      const store = await makeStore(t);
      if (store === undefined) return;
      if (!needs(store)) {
        t.diagnostic("this store cannot do what the case is about");
        return;
      }
      await body(t, await withStore(t, store, hostOptions), store);
    });
  };
  for (const part of PARTS) part.cases(it);
}
