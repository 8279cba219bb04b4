// Which turn the running code belongs to, by its asynchronous context. Shared by all copies of the package in a process: a
// bundler may well make two of it.
import { AsyncLocalStorage } from "node:async_hooks";
import type { HarnessToolContext } from "../../index.js";

/** One turn, or one call of a tool inside it. */
export interface Scope {
  /** Names the session among all of this process. */
  readonly key: string;
  readonly context: HarnessToolContext<any>;
  /** Whether the turn is still open. */
  readonly isOpen: () => boolean;
  readonly outer: Scope | undefined;
}

const STORAGE = Symbol.for("@little-stack/files.scope");

/** Made at first use: it costs every promise of the process a little. */
function storage(): AsyncLocalStorage<Scope> {
  const shared = globalThis as { [STORAGE]?: AsyncLocalStorage<Scope> };
  return (shared[STORAGE] ??= new AsyncLocalStorage());
}

export function currentScope(): Scope | undefined {
  return storage().getStore();
}

/** Runs `fn` in the scope, which may be entered from inside others. */
export function runInside<R>(scope: Omit<Scope, "outer">, fn: () => R): R {
  return storage().run({ ...scope, outer: currentScope() }, fn);
}

/** Whether an open turn of this session runs this very code. */
export function isInside(key: string): boolean {
  for (let scope = currentScope(); scope !== undefined; scope = scope.outer) {
    if (scope.key === key && scope.isOpen()) return true;
  }
  return false;
}
