// Commits what is pending in a dir. What does not land stays pending.
import type { FsErrorCode, PersistentDirCommitResult } from "../../index.js";
import { settled } from "../cancellation.js";
import { HarnessFileError, unwrap } from "../errors.js";
import type { NativeChange, NativeCommit, NativeDir } from "../native.js";
import { allPages } from "../pace.js";
import { type Counts, counted, named, noCounts } from "./counts.js";
import { type Call, type Dir, type DirSession, whole } from "./dir.js";
import { commitFailed } from "./failure.js";
import { load } from "./load.js";
import { withCheckout, withSource } from "./operation.js";
import { durationMs, tell } from "./tell.js";
import { StoreChanged, Transfer } from "./transfer.js";

/** Of one commit, while other files of the store change. */
const MAX_ATTEMPTS = 3;
/** Nothing was tried. */
const UNNOTED: ReadonlySet<string> = new Set(["FS_ABORTED", "FS_BUSY", "FS_CLOSED"]);

export interface Wanted {
  /** Only what is at or below them; null: all. */
  readonly paths: string[] | null;
  /** Asked once the dir is open: true ends the commit with nothing done. */
  readonly unless?: () => boolean;
}

/** Never rejects. The host hears of a failure, too. */
export async function commitDir(
  session: DirSession,
  dir: Dir,
  call: Call,
  wanted: Wanted = { paths: null },
): Promise<PersistentDirCommitResult> {
  const commit = new Commit(session, dir, call, wanted);
  const running = commit.run();
  const { cancellation } = call;
  // A callback that does not heed its signal is not waited for. It keeps the dir: nothing may overtake what it sends.
  const result =
    cancellation !== undefined && "store" in dir.behind
      ? await Promise.race([running, cancellation.aborted.catch((error: unknown) => commit.failure(error))])
      : await running;
  if (result.status === "failed") session.onFailure({ ...result, sessionId: session.native.id });
  return result;
}

class Commit {
  readonly #session: DirSession;
  readonly #dir: Dir;
  readonly #call: Call;
  readonly #wanted: Wanted;
  readonly #since = performance.now();
  readonly #landed = noCounts();
  #attempts = 0;
  /** The addon knows of a failure. */
  #noted = false;
  /** What the last attempt sent, for events. */
  #sent: { readonly commitId: string; readonly changeCounts: Counts } | undefined;

  constructor(session: DirSession, dir: Dir, call: Call, wanted: Wanted) {
    this.#session = session;
    this.#dir = dir;
    this.#call = call;
    this.#wanted = wanted;
  }

  async run(): Promise<PersistentDirCommitResult> {
    let result: PersistentDirCommitResult;
    try {
      const unsent = await withSource(this.#session, this.#dir, this.#call, "commit", (native, scope) =>
        this.#commit(native, scope),
      );
      result = unsent === undefined ? this.#result("succeeded") : this.#result("failed", unsent);
    } catch (error) {
      result = this.failure(error);
      if (!this.#noted) await this.#note(result.error);
    }
    await this.#tellOutcome(result);
    return result;
  }

  failure(error: unknown): PersistentDirCommitResult {
    return this.#result("failed", withWholePaths(this.#dir, commitFailed(this.#dir.harnessDir, error)));
  }

  #result(status: "succeeded" | "failed", error?: HarnessFileError): PersistentDirCommitResult {
    const { harnessDir, commit } = this.#dir;
    const some = Object.values(this.#landed).some((count) => count > 0);
    return {
      harnessDir,
      commit,
      status,
      ...((some || error === undefined) && { changes: { ...this.#landed } }),
      ...(error !== undefined && { error }),
    };
  }

  /** Gives the error of what can never be sent, once the rest was. */
  async #commit(native: NativeDir, scope: string): Promise<HarnessFileError | undefined> {
    if (this.#wanted.unless?.() === true) return undefined;
    const { cancellation } = this.#call;
    for (;;) {
      this.#attempts++;
      const again = this.#attempts > 1;
      if (again || this.#loadsFirst(native)) {
        if (!again && !(await hasWork(native))) return undefined;
        await load(this.#session, this.#dir, this.#call, native, scope);
      }
      const commit = settled(await native.beginCommit(this.#wanted.paths, cancellation?.native), cancellation);
      if (commit === null) return undefined;
      try {
        const entries = await allPages((from) => commit.entries(from));
        if (entries.length > 0) {
          await this.#tellStarted(commit.id, entries);
          await this.#transfer(commit, entries, native.cursor, scope);
        }
        return await this.#unsent(commit);
      } catch (error) {
        if (!(error instanceof StoreChanged)) throw error;
        if (this.#attempts >= MAX_ATTEMPTS) throw this.#conflict(error);
      } finally {
        commit.end();
      }
    }
  }

  /** A store that takes file by file has all its versions compared before the first is sent. */
  #loadsFirst(native: NativeDir): boolean {
    const { behind } = this.#dir;
    return native.mustLoad || ("store" in behind && behind.store.commitAll === undefined);
  }

  async #transfer(
    commit: NativeCommit,
    entries: readonly NativeChange[],
    cursor: string | null,
    scope: string,
  ): Promise<void> {
    try {
      await new Transfer(this.#session, this.#dir, this.#call, commit, entries, this.#landed).run(cursor, scope);
    } catch (error) {
      this.#noted = true;
      throw error;
    }
  }

  /** Of a commit that came to nothing before it began, such as for want of its source: `pending` tells of it. */
  async #note(error: HarnessFileError | undefined): Promise<void> {
    if (error === undefined || UNNOTED.has(error.code)) return;
    const call = { ...this.#call, cancellation: undefined };
    try {
      await withCheckout(this.#session, this.#dir, call, (native) =>
        native.commitFailed(this.#wanted.paths, error.code, error.message),
      );
    } catch {
      // The failure itself is the one to tell.
    }
  }

  async #unsent(commit: NativeCommit): Promise<HarnessFileError | undefined> {
    const refused = await allPages((from) => commit.refused(from));
    const [first] = refused;
    if (first === undefined) return undefined;
    const paths = refused.map(({ path }) => whole(this.#dir, path));
    const more = refused.length === 1 ? "" : ` (and ${refused.length - 1} more)`;
    return new HarnessFileError(first.code as FsErrorCode, first.message + more, {
      path: paths[0],
      details: { paths },
    });
  }

  #conflict({ paths, cause }: StoreChanged): HarnessFileError {
    const { harnessDir } = this.#dir;
    const message = `The store of ${harnessDir} changed each of the ${MAX_ATTEMPTS} times that the commit was tried`;
    return new HarnessFileError("FS_CONFLICT", message, { path: harnessDir, details: { paths }, cause });
  }

  async #tellStarted(commitId: string, entries: readonly NativeChange[]): Promise<void> {
    const first = this.#sent === undefined;
    this.#sent = { commitId, changeCounts: counted(entries) };
    if (!first) return; // tried again: one commit to those who listen
    const fields = { ...this.#sent, changes: named(this.#dir, entries) };
    await tell(this.#session, this.#dir, this.#call, "harness.persistent_dir.commit.started", fields);
  }

  async #tellOutcome({ error }: PersistentDirCommitResult): Promise<void> {
    if (this.#sent === undefined && error === undefined) return; // there was nothing to commit
    const outcome = error === undefined ? "succeeded" : "failed";
    await tell(this.#session, this.#dir, this.#call, `harness.persistent_dir.commit.${outcome}`, {
      ...this.#sent,
      attempts: this.#attempts,
      landed: { ...this.#landed },
      durationMs: durationMs(this.#since),
      ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    });
  }
}

/** Without any no callback is called. */
async function hasWork(native: NativeDir): Promise<boolean> {
  return unwrap(await native.pending()) > 0 || unwrap(await native.conflicts()) > 0;
}

/** The addon tells paths within the dir; the world knows them by the whole path. */
function withWholePaths(dir: Dir, error: HarnessFileError): HarnessFileError {
  const paths: unknown = error.details?.["paths"];
  if (error.code !== "FS_CONFLICT" || !Array.isArray(paths)) return error;
  const { code, message, path, cause } = error;
  const known = paths.filter((each) => typeof each === "string");
  const details = { ...error.details, paths: known.map((each) => whole(dir, each)) };
  return new HarnessFileError(code, message, { path, details, ...(cause !== undefined && { cause }) });
}
