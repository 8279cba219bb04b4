// The Persistent Dirs of one session handle: when they are loaded, and when they are committed.
import type { PersistenceStatus, PersistentDirCommitResult } from "../../index.js";
import type { Cancellation } from "../cancellation.js";
import { unwrap } from "../errors.js";
import { commitDir } from "./commit.js";
import { type Call, type Dir, type DirSession, relative } from "./dir.js";
import { commitFailed, loadFailed } from "./failure.js";
import { isInside, refuseInside } from "./inside.js";
import { load } from "./load.js";
import { withCheckout, withSource } from "./operation.js";

export class SessionDirs {
  readonly session: DirSession;
  /** Of the handle. */
  readonly #extraBody: unknown;
  /** Of the last turn that this handle began. */
  #lastExtraBody: unknown;
  /** Those that need no look any more before they are used. */
  readonly #loaded = new Set<Dir>();

  constructor(session: DirSession, extraBody: unknown) {
    this.session = session;
    this.#extraBody = extraBody;
  }

  /** A call outside of a turn. */
  hostCall(cancellation: Cancellation | undefined): Call {
    const extraBody = this.#extraBody === undefined ? this.#lastExtraBody : this.#extraBody;
    return { extraBody, turnId: undefined, cancellation };
  }

  /** The dir that holds the path. */
  at(path: string): Dir | undefined {
    return this.#dirsAt(path, false)[0];
  }

  /** The addon knows how paths are read; most need not be asked about. */
  #dirsAt(path: string, below: boolean): Dir[] {
    const { dirs, native } = this.session;
    if (dirs.length === 0 || !path.includes("persistent")) return [];
    return native.persistentDirsAt(path, below).flatMap((index) => dirs[index] ?? []);
  }

  /** What a first access to the path waits for; undefined when all is there. `below`: also to dirs that lie below it. */
  access(path: string, below: boolean, cancellation: Cancellation | undefined): Promise<void> | undefined {
    const unknown = this.#dirsAt(path, below).filter((dir) => !this.#loaded.has(dir) && !this.#isBusyWith(dir));
    if (unknown.length === 0) return undefined;
    return this.#first(unknown, this.hostCall(cancellation));
  }

  /** A callback of the dir runs this very code: a load would wait for itself. */
  #isBusyWith({ harnessDir }: Dir): boolean {
    return isInside(this.session.key, harnessDir);
  }

  async #first(dirs: readonly Dir[], call: Call): Promise<void> {
    for (const dir of dirs) {
      try {
        const fresh = await withCheckout(this.session, dir, call, async (native) => native.neverLoaded);
        if (fresh) {
          await withSource(this.session, dir, call, "load", async (native, scope) => {
            if (native.neverLoaded) await load(this.session, dir, call, native, scope);
          });
        }
        this.#loaded.add(dir);
      } catch (error) {
        throw loadFailed(dir.harnessDir, error);
      }
    }
  }

  /** The dir in which something is to be written. FS_BUSY when one of its own callbacks runs this very code. */
  writable(path: string, what: string): Dir | undefined {
    const [dir] = this.#dirsAt(path, false);
    if (dir !== undefined) refuseInside(this.session.key, `files.${what}`, dir.harnessDir);
    return dir?.commit === "read-only" ? undefined : dir; // that one the addon refuses; nothing need be loaded for it
  }

  /** Its checkout may have been emptied: the next access looks. */
  forget(dir: Dir): void {
    this.#loaded.delete(dir);
  }

  /** At the beginning of a turn: all dirs at once. Rejects with the first failure when all are through. */
  async refresh(call: Call): Promise<void> {
    this.#lastExtraBody = call.extraBody;
    const outcomes = await Promise.allSettled(this.session.dirs.map((dir) => this.load(dir, call)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async load(dir: Dir, call: Call, needed?: readonly string[]): Promise<void> {
    try {
      await withSource(this.session, dir, call, "load", (native, scope) =>
        load(this.session, dir, call, native, scope, needed),
      );
      this.#loaded.add(dir);
    } catch (error) {
      this.forget(dir);
      throw loadFailed(dir.harnessDir, error);
    }
  }

  /** After a host write or remove: commits that path, unless a turn runs, whose affair it is then. */
  async commitPath(dir: Dir, path: string, cancellation: Cancellation | undefined): Promise<void> {
    const { native } = this.session;
    if (dir.commit !== "after-turn" || native.turnRunning()) return;
    const name = relative(dir, path);
    const wanted = { paths: [...new Set([name, name.normalize()])], unless: () => native.turnRunning() };
    const { error } = await commitDir(this.session, dir, this.hostCall(cancellation), wanted);
    if (error !== undefined) throw commitFailed(dir.harnessDir, error);
  }

  /** What a finished turn leaves to be committed by hand survives a power cut as well. */
  async flushManual(call: Call): Promise<void> {
    const manual = this.session.dirs.filter(({ commit }) => commit === "manual");
    await Promise.all(
      manual.map((dir) => withCheckout(this.session, dir, call, async (native) => unwrap(await native.flushPending()))),
    );
  }

  /** Those that `wanted` says no to are skipped. One that fails does not hold up the others. */
  async commit(
    call: Call,
    wanted: (dir: Dir) => boolean,
    dirs: readonly Dir[] = this.session.dirs,
  ): Promise<PersistenceStatus> {
    if (this.session.dirs.length === 0) return { status: "not-configured" };
    const commits = await Promise.all(
      dirs.map(async (dir): Promise<PersistentDirCommitResult> => {
        if (wanted(dir)) return commitDir(this.session, dir, call);
        return { harnessDir: dir.harnessDir, commit: dir.commit, status: "skipped" };
      }),
    );
    const failedCommits = commits.filter(({ status }) => status === "failed");
    return failedCommits.length === 0 ? { status: "succeeded", commits } : { status: "failed", commits, failedCommits };
  }
}
