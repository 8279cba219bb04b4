// `session.persistence`: what has not landed, and what to do about it.
import type { PendingChange, Persistence, PersistenceConflict } from "../../index.js";
import type { Cancellation } from "../cancellation.js";
import * as check from "../check.js";
import { HarnessFileError, isFailure, unwrap } from "../errors.js";
import { FileData } from "../file-data.js";
import { checkPath } from "../file-options.js";
import type { NativeConflict, NativeDir, NativePending } from "../native.js";
import { Pace, allPages, mapped } from "../pace.js";
import type { SessionCore } from "../session-core.js";
import { type Dir, relative, whole } from "./dir.js";
import { refuseInside } from "./inside.js";
import { withCheckout } from "./operation.js";
import type { SessionDirs } from "./session-dirs.js";

export function persistence(core: SessionCore): Persistence {
  const dirs = core.persistent;
  const { session } = dirs;

  function perform<T>(
    name: string,
    signal: () => AbortSignal | undefined,
    work: (cancellation: Cancellation | undefined) => Promise<T>,
  ): Promise<T> {
    return core.perform({ name: `persistence.${name}`, path: undefined }, async () => {
      refuseInside(session.key, `persistence.${name}`);
      return core.cancellable(signal(), work);
    });
  }

  const open = <T>(dir: Dir, work: (native: NativeDir) => Promise<T>): Promise<T> =>
    withCheckout(session, dir, dirs.hostCall(undefined), work);

  return {
    pending: () =>
      perform("pending", none, async () => {
        return byAge(await Promise.all(session.dirs.map((dir) => pendingIn(dirs, dir))));
      }),

    commit: (options) =>
      perform(
        "commit",
        () => check.readOptions(options, check.signal),
        async (cancellation) => {
          const given = check.readOptions(options, (read) => ({
            extraBody: read["extraBody"],
            names: strings(read, "harnessDirs"),
          }));
          const chosen = given.names === undefined ? session.dirs : declared(session.dirs, given.names);
          const call = dirs.hostCall(cancellation);
          const { extraBody = call.extraBody } = given;
          return dirs.commit({ ...call, extraBody }, ({ commit }) => commit !== "read-only", chosen);
        },
      ),

    conflicts: () =>
      perform("conflicts", none, async () => {
        const found = await Promise.all(session.dirs.map((dir) => conflictsIn(dir)));
        return found.flat();
      }),

    resolve: (path, side) =>
      perform("resolve", none, async () => {
        const chosen = check.oneOf({ side }, "side", ["ours", "theirs"]);
        if (chosen === undefined) throw check.invalidOption("side", '"ours" or "theirs"', side);
        const dir = await dirOf(path);
        if (dir === undefined) throw noConflict(path);
        await open(dir, async (native) => unwrap(await native.resolve(relative(dir, path), chosen)));
      }),

    discard: (options) =>
      perform("discard", none, async () => {
        const request = check.readOptions(options, (given) => ({
          whole: declared(session.dirs, strings(given, "harnessDirs") ?? []),
          paths: strings(given, "paths") ?? [],
        }));
        const wanted = new Map<Dir, string[] | null>();
        for (const path of request.paths) {
          const dir = await dirOf(path);
          if (dir === undefined) throw inNoDir(path);
          const name = relative(dir, path);
          const before = wanted.get(dir);
          wanted.set(dir, name === "" || before === null ? null : [...(before ?? []), name]);
        }
        for (const dir of request.whole) wanted.set(dir, null);
        if (wanted.size === 0) throw check.invalidOption("harnessDirs or paths", "named, and not empty", undefined);
        for (const [dir, paths] of wanted) await discardIn(dirs, dir, paths);
      }),
  };

  /** FS_INVALID_PATH for what is no path at all, as the addon has it. */
  async function dirOf(path: unknown): Promise<Dir | undefined> {
    const name = checkPath(path);
    const dir = dirs.at(name);
    if (dir !== undefined) return dir;
    const looked = await core.native.stat(name);
    if (isFailure(looked) && looked.failure.code === "FS_INVALID_PATH") unwrap(looked);
    return undefined;
  }

  async function conflictsIn(dir: Dir): Promise<PersistenceConflict[]> {
    const found = await open(dir, async (native) => {
      unwrap(await native.conflicts());
      return allPages(() => native.takeConflicts());
    });
    return mapped(found, conflict);

    function conflict({ path, base, ours, theirs }: NativeConflict): PersistenceConflict {
      const readTheirs = (): ReturnType<PersistenceConflict["readTheirs"]> =>
        perform("readTheirs", none, async () => {
          const data = await open(dir, async (native) => unwrap(await native.readTheirs(path)));
          return data === null ? undefined : new FileData({ ...data, path: whole(dir, path) });
        });
      const told: PersistenceConflict = { harnessDir: dir.harnessDir, path: whole(dir, path), readTheirs };
      if (base !== undefined) told.base = base;
      if (ours !== undefined) told.ours = ours;
      if (theirs !== undefined) told.theirs = theirs;
      return told;
    }
  }
}

function none(): undefined {}

function inNoDir(path: string): HarnessFileError {
  const message = `paths must be paths in Persistent Dirs: ${path} is in none`;
  return new HarnessFileError("FS_INVALID_OPTION", message, { path, details: { option: "paths" } });
}

function noConflict(path: string): HarnessFileError {
  return new HarnessFileError("FS_NOT_FOUND", `No conflict at this path (ENOENT): ${path}`, { path });
}

function strings(given: check.Options, name: string): string[] | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return [...(value as string[])];
  throw check.invalidOption(name, "an array of strings", value);
}

function declared(dirs: readonly Dir[], names: readonly string[]): Dir[] {
  for (const name of names) {
    if (dirs.some(({ harnessDir }) => harnessDir === name)) continue;
    const all = dirs.map(({ harnessDir }) => harnessDir).join(", ") || "none";
    throw new HarnessFileError("FS_INVALID_OPTION", `No such Persistent Dir: ${name}. There are: ${all}`, {
      details: { option: "harnessDirs" },
    });
  }
  return dirs.filter(({ harnessDir }) => names.includes(harnessDir));
}

/** Oldest first, then by the bytes of the path, as listings are; so is each of the lists. */
async function byAge(lists: readonly PendingChange[][]): Promise<PendingChange[]> {
  const some = lists.filter(({ length }) => length > 0);
  let merged = some.pop() ?? [];
  for (const list of some) merged = await merge(merged, list);
  return merged;
}

async function merge(one: readonly PendingChange[], other: readonly PendingChange[]): Promise<PendingChange[]> {
  const all: PendingChange[] = [];
  const pace = new Pace();
  for (let a = 0, b = 0; ;) {
    const [left, right] = [one[a], other[b]];
    if (left === undefined || right === undefined) return [...all, ...one.slice(a), ...other.slice(b)];
    if (isBefore(left, right)) a++;
    else b++;
    all.push(isBefore(left, right) ? left : right);
    if (pace.due()) await pace.turn();
  }
}

function isBefore(one: PendingChange, other: PendingChange): boolean {
  const later = one.since.getTime() - other.since.getTime();
  return later === 0 ? Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)) < 0 : later < 0;
}

async function pendingIn(dirs: SessionDirs, dir: Dir): Promise<PendingChange[]> {
  const call = dirs.hostCall(undefined);
  const look = (): Promise<{ fresh: boolean; found: PendingChange[] }> =>
    withCheckout(dirs.session, dir, call, async (native) => {
      unwrap(await native.pending());
      const found = await allPages(() => native.takePending());
      return { fresh: native.neverLoaded, found: await mapped(found, (change) => pendingChange(dir, change)) };
    });
  const { fresh, found } = await look();
  if (!fresh || found.length === 0) return found;
  // Files in a checkout whose base is lost: only the store can tell which of them are changes.
  try {
    await dirs.load(dir, call);
  } catch (error) {
    const { code, message } = error as HarnessFileError;
    return mapped(found, (change) => ({ ...change, lastError: { code, message } }));
  }
  return (await look()).found;
}

function pendingChange(dir: Dir, native: NativePending): PendingChange {
  const { path, change, bytes, sha256, since, attempts } = native;
  const pending: PendingChange = {
    harnessDir: dir.harnessDir,
    path: whole(dir, path),
    change,
    since: new Date(since),
    attempts,
  };
  if (bytes !== undefined) pending.bytes = bytes;
  if (sha256 !== undefined) pending.sha256 = sha256;
  if (native.errorCode !== undefined) {
    pending.lastError = { code: native.errorCode, message: native.errorMessage ?? native.errorCode };
  }
  return pending;
}

/** The source is another one by now, or gone, and cannot tell what was here: the dir begins anew. */
function isSourceLost({ behind }: Dir, error: unknown): boolean {
  const { code, cause } = error as HarnessFileError;
  if (code === "FS_CONFLICT") return true;
  return "sourceDir" in behind && cause instanceof HarnessFileError && cause.code === "FS_NOT_FOUND";
}

async function discardIn(dirs: SessionDirs, dir: Dir, paths: string[] | null): Promise<void> {
  const call = dirs.hostCall(undefined);
  const needed = await withCheckout(dirs.session, dir, call, async (native) => unwrap(await native.discard(paths)));
  // Of a whole local dir its folder may be gone for good, which is to be found out.
  if (needed.length === 0 && (paths !== null || "store" in dir.behind)) return;
  try {
    await dirs.load(dir, call, needed);
  } catch (error) {
    if (paths !== null || !isSourceLost(dir, error)) throw error;
    await withCheckout(dirs.session, dir, call, async (native) => unwrap(await native.reset()));
    dirs.forget(dir);
  }
}
