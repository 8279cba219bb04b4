// A `customDir` that gives and takes all files at once: `load` and `store`.
import { types } from "node:util";
import type { LoadContext } from "../../index.js";
import { HarnessFileError, describe } from "../errors.js";
import { asBytes } from "../source/bytes.js";
import { FileChangeSet } from "./change-set.js";
import type { Callback } from "./dirs.js";
import { calling } from "./failure.js";
import { forEach } from "./parallel.js";
import { checkScope, defaultScope } from "./scope.js";
import type { CommitContext, Loading, Outgoing, ScopeContext, Store } from "./store.js";

interface MapCallbacks {
  readonly scope?: Callback;
  readonly load: Callback;
  readonly store?: Callback;
}

const PUTS_AT_ONCE = 8;

type Files = Iterable<unknown> | AsyncIterable<unknown>;

export class CallbackMap implements Store {
  readonly kind = "custom";
  readonly commitAll?: NonNullable<Store["commitAll"]>;
  readonly #callbacks: MapCallbacks;

  constructor(callbacks: MapCallbacks) {
    this.#callbacks = callbacks;
    const { store } = callbacks;
    if (store !== undefined) this.commitAll = (ctx, changes) => commitAll(store, ctx, changes);
  }

  scope(ctx: ScopeContext): string | Promise<string> {
    const { scope } = this.#callbacks;
    return scope === undefined ? defaultScope(ctx.extraBody) : checkScope(scope(ctx));
  }

  async load(ctx: LoadContext, loading: Loading): Promise<{ cursor?: unknown }> {
    const { files, cursor } = unfold(await calling(() => this.#callbacks.load(ctx)));
    const incoming = loading.begin(true);
    const take = async (entry: unknown): Promise<void> => {
      const [path, content] = pair(entry);
      await incoming.put(path as string, content);
    };
    // What is there is taken several at once. An iterable may mean one to be read before it gives the next.
    if (Array.isArray(files) || types.isMap(files)) await forEach<unknown>(files, PUTS_AT_ONCE, take);
    else for await (const entry of pulled(files)) await take(entry);
    return { cursor };
  }
}

async function commitAll(store: Callback, ctx: CommitContext, outgoing: Outgoing): Promise<{ cursor?: unknown }> {
  const changes = await FileChangeSet.of(outgoing);
  const result: unknown = await calling(() => store({ ...ctx, changes }));
  if (typeof result !== "object" || result === null) return {};
  return { cursor: (result as { cursor?: unknown }).cursor };
}

/** A map, or `{ files, cursor }`. A text or bytes at `files` are a file of that name; a Map holds nothing but files. */
function unfold(result: unknown): { files: Files; cursor?: unknown } {
  if (types.isMap(result)) return { files: result };
  if (!isRecord(result)) throw invalid(`load gave ${describe(result)}, not a map of files or { files, cursor }`);
  const { files, cursor } = result;
  if (!Object.hasOwn(result, "files") || typeof files === "string" || asBytes(files) !== undefined) {
    return { files: Object.entries(result) };
  }
  if (isIterable(files)) return { files, cursor };
  if (!isRecord(files)) throw invalid(`load gave ${describe(files)} as files, not a map or an iterable of pairs`);
  return { files: Object.entries(files), cursor };
}

/** Of what realm whatever; what only looks like one, such as an array or a class of the user's, is no record of files. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]" && !isIterable(value);
}

function isIterable(value: unknown): value is Files {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** The entries of an iterable of the user's: what it throws is the callback's error. */
async function* pulled(files: Files): AsyncGenerator<unknown> {
  const iterator =
    Symbol.asyncIterator in files
      ? files[Symbol.asyncIterator]()
      : (files[Symbol.iterator]() as Iterator<unknown> | AsyncIterator<unknown>);
  let over = false;
  try {
    for (;;) {
      over = true; // it ends by itself, or with its own error
      const { done, value } = await calling(() => iterator.next());
      if (done === true) return;
      over = false;
      yield value;
    }
  } finally {
    if (!over) await calling(() => iterator.return?.()).catch(() => {}); // the error that ended the load is the one to tell
  }
}

function pair(entry: unknown): readonly [unknown, unknown] {
  if (Array.isArray(entry) && entry.length === 2) return entry as unknown as [unknown, unknown];
  throw invalid(`load gave ${describe(entry)} among its files, not a pair of a path and a content`);
}

function invalid(message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_CONTENT", message);
}
