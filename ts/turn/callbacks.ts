// The end of a turn as the callbacks of `streamText`.
import type { Turn } from "../../index.js";
import * as check from "../check.js";

type Mine = NonNullable<Parameters<Turn["callbacks"]>[0]>;

/** Yours is called when the turn has ended, also when that failed. */
export function callbacks(
  finish: () => Promise<void>,
  abort: (reason: unknown) => Promise<void>,
  mine?: Mine,
): ReturnType<Turn["callbacks"]> {
  const { onFinish, onError, onAbort } = check.readOptions(mine, read);
  return {
    onFinish: (event) => both(finish, onFinish, event),
    onError: (event) => both(() => abort(errorOf(event)), onError, event),
    onAbort: (event) => both(() => abort(reasonOf(event)), onAbort, event),
  };
}

function read(given: check.Options): Mine {
  return {
    ...callback(given, "onFinish"),
    ...callback(given, "onError"),
    ...callback(given, "onAbort"),
  };
}

function callback(given: check.Options, name: keyof Mine): Mine {
  const value = given[name];
  if (value === undefined) return {};
  if (typeof value !== "function") throw check.invalidOption(name, "a function", value);
  return { [name]: value };
}

async function both(
  end: () => Promise<void>,
  mine: ((event: unknown) => unknown) | undefined,
  event: unknown,
): Promise<void> {
  try {
    await end();
  } finally {
    await mine?.(event);
  }
}

function errorOf(event: unknown): unknown {
  return typeof event === "object" && event !== null && "error" in event ? event.error : event;
}

/** AI SDK 7 tells the reason. */
function reasonOf(event: unknown): unknown {
  const reason = typeof event === "object" && event !== null && "reason" in event ? event.reason : undefined;
  return reason ?? new DOMException("The response was aborted", "AbortError");
}
