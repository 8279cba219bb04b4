// A `customDir` that gives and takes each file by itself: `list`, `read`, `write` and `delete`.
import type { LoadContext } from "../../index.js";
import { HarnessFileError, describe } from "../errors.js";
import { Pace, mapped } from "../pace.js";
import { MAX_HELD_BYTES, tooLarge } from "./change-set.js";
import type { Callback } from "./dirs.js";
import { calling } from "./failure.js";
import { forEach } from "./parallel.js";
import { checkScope, defaultScope } from "./scope.js";
import type { CommitContext, Incoming, Loading, OutgoingChange, ScopeContext, Store } from "./store.js";

const READS_AT_ONCE = 8;
/** Of any path, with the dir's own. */
const MAX_DEPTH = 128;

interface FileCallbacks {
  readonly scope?: Callback;
  readonly list: Callback;
  readonly read: Callback;
  readonly write?: Callback;
  readonly delete?: Callback;
}

type Kind = "file" | "directory";

interface Entry {
  readonly path: string;
  readonly version?: string;
}

export class CallbackFiles implements Store {
  readonly kind = "custom";
  readonly send?: NonNullable<Store["send"]>;
  readonly #callbacks: FileCallbacks;

  constructor(callbacks: FileCallbacks) {
    this.#callbacks = callbacks;
    const { write, delete: remove } = callbacks;
    if (write === undefined || remove === undefined) return;
    this.send = (ctx, change) =>
      change.change === "deleted" ? sendDeletion(remove, ctx, change) : sendContent(write, ctx, change);
  }

  scope(ctx: ScopeContext): string | Promise<string> {
    const { scope } = this.#callbacks;
    return scope === undefined ? defaultScope(ctx.extraBody) : checkScope(scope(ctx));
  }

  async load(ctx: LoadContext, loading: Loading): Promise<{ cursor?: unknown }> {
    const incoming = loading.begin(true);
    const seen = new Map<string, Kind>([["", "directory"]]);
    const folders = [""];
    const pace = new Pace();
    for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
      const files: Entry[] = [];
      for (const { kind, ...entry } of await this.#list(ctx, path)) {
        if (pace.due()) await pace.turn();
        // A store that lists the whole tree at once names the same paths again when its folders are entered.
        const before = seen.get(entry.path);
        if (before === kind) continue;
        if (before !== undefined) throw bothKinds(entry.path);
        seen.set(entry.path, kind);
        if (kind === "file") files.push(entry);
        else folders.push(entry.path);
      }
      await this.#take(ctx, incoming, files);
    }
    return {};
  }

  async #list(ctx: LoadContext, path: string): Promise<Array<Entry & { kind: Kind }>> {
    const listed: unknown = await calling(() => this.#callbacks.list({ ...ctx, path }));
    if (!Array.isArray(listed)) throw invalid(`list gave ${describe(listed)}, not an array of entries`);
    return mapped(listed, listedEntry);
  }

  async #take(ctx: LoadContext, incoming: Incoming, files: readonly Entry[]): Promise<void> {
    const states = await incoming.list(files);
    const unnamable = files[states.indexOf("unnamable")];
    if (unnamable !== undefined) throw noPath(unnamable.path);
    const wanted = files.filter((_, at) => states[at] === "wanted");
    await forEach(wanted, READS_AT_ONCE, async ({ path, version }) => {
      const content: unknown = await calling(() => this.#callbacks.read({ ...ctx, path }));
      await incoming.put(path, content, version);
    });
  }
}

function listedEntry(entry: unknown): Entry & { kind: Kind } {
  const { path, kind, version } = Object(entry) as Record<string, unknown>;
  if (typeof path !== "string" || path === "") throw invalid(`list gave an entry whose path is ${describe(path)}`);
  const shown = JSON.stringify(path.slice(0, 256));
  if (kind !== "file" && kind !== "directory")
    throw invalid(`list gave ${shown} with a kind that is neither "file" nor "directory"`);
  if (kind === "directory") return { path: folderPath(path), kind };
  if (version === undefined || version === null) return { path, kind };
  if (typeof version !== "string")
    throw invalid(`list gave ${shown} with a version that is ${describe(version)}, not a string`);
  return { path, kind, version };
}

/** Files are checked where they are taken; a folder is only entered. One in which no file can lie any more may have no end. */
function folderPath(path: string): string {
  const trimmed = path.replace(/\/$/, "");
  const segments = trimmed.split("/");
  const isPath = segments.length < MAX_DEPTH && segments.every((segment) => !["", ".", ".."].includes(segment));
  if (!isPath || /[\\\u0000-\u001f\u007f-\u009f]/.test(path)) throw noPath(path);
  return trimmed;
}

/** What is in such a folder would else be left out, as if it were deleted. */
function bothKinds(path: string): HarnessFileError {
  const shown = JSON.stringify(path.slice(0, 256));
  return new HarnessFileError("FS_INVALID_PATH", `list gave ${shown} as a file and as a directory: it cannot be both`);
}

function noPath(path: string): HarnessFileError {
  const shown = JSON.stringify(path.slice(0, 256));
  return new HarnessFileError("FS_INVALID_PATH", `list names what no path can be: ${shown}`);
}

async function sendContent(
  write: Callback,
  { cursor: _cursor, commitId: _id, ...ctx }: CommitContext,
  change: OutgoingChange,
): Promise<{ version?: string }> {
  const { path, bytes = 0 } = change;
  const request = { ...ctx, path, open: () => change.open(), ...ifMatch(change) };
  if (bytes <= MAX_HELD_BYTES) Object.assign(request, { content: await change.read() });
  // Not seen by those who copy the request; told to those who ask for it.
  else Object.defineProperty(request, "content", { get: () => tooLarge(`${path} is`) });
  const result: unknown = await calling(() => write(request));
  const { version } = Object(result) as { version?: unknown };
  return typeof version === "string" ? { version } : {};
}

async function sendDeletion(
  remove: Callback,
  { cursor: _cursor, commitId: _id, ...ctx }: CommitContext,
  change: OutgoingChange,
): Promise<{ version?: string }> {
  await calling(() => remove({ ...ctx, path: change.path, ...ifMatch(change) }));
  return {};
}

function ifMatch({ base }: OutgoingChange): { ifMatch?: string } {
  return base?.version === undefined ? {} : { ifMatch: base.version };
}

function invalid(message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_CONTENT", message);
}
