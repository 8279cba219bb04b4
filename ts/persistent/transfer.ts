// Hands staged changes to the store, and notes natively what became of them.
import { type Cancellation, settled } from "../cancellation.js";
import { HarnessFileError, unwrap } from "../errors.js";
import { Gate } from "../gate.js";
import type { NativeChange, NativeCommit } from "../native.js";
import { isConflict } from "./conflict.js";
import type { Counts } from "./counts.js";
import { cursorText, parseCursor } from "./cursor.js";
import { type Call, type Dir, type DirSession, contextOf } from "./dir.js";
import { Thrown, commitFailed } from "./failure.js";
import { inside } from "./inside.js";
import { outgoing } from "./outgoing.js";
import { forEach } from "./parallel.js";
import type { CommitContext, OutgoingChange, Store } from "./store.js";

/** The store changed underneath and says that it applied nothing: a load tells what to do. */
export class StoreChanged extends Error {
  readonly paths: readonly string[];

  constructor(paths: unknown, cause: unknown) {
    super("The store changed", { cause });
    this.paths = Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
    this.cause = cause;
  }
}

export class Transfer {
  readonly #session: DirSession;
  readonly #dir: Dir;
  readonly #call: Call;
  readonly #commit: NativeCommit;
  readonly #entries: readonly NativeChange[];
  readonly #landed: Counts;
  readonly #gate = new Gate("The commit has ended.");
  /** Something may have landed though the store did not say so. */
  #unknown = false;

  /** `landed` is counted up. */
  constructor(
    session: DirSession,
    dir: Dir,
    call: Call,
    commit: NativeCommit,
    entries: readonly NativeChange[],
    landed: Counts,
  ) {
    this.#session = session;
    this.#dir = dir;
    this.#call = call;
    this.#commit = commit;
    this.#entries = entries;
    this.#landed = landed;
  }

  get #cancellation(): Cancellation | undefined {
    return this.#call.cancellation;
  }

  /** Throws StoreChanged, or the error of the commit. `cursor` as the addon has it. */
  async run(cursor: string | null, scope: string): Promise<void> {
    const { behind } = this.#dir;
    try {
      this.#cancellation?.check();
      if (!("store" in behind)) await this.#apply();
      else if (behind.store.commitAll !== undefined) await this.#commitAll(behind.store, cursor, scope);
      else if (behind.store.send !== undefined) await this.#sendEach(behind.store, cursor, scope);
      else throw new Error("a dir that is only read has nothing to commit");
    } catch (error) {
      const failure = this.#failure(error);
      const told = failure instanceof StoreChanged ? storeChanged(this.#dir) : failure;
      await this.#commit.failed(told.code, told.message, this.#unknown);
      throw failure;
    } finally {
      await this.#gate.close();
    }
  }

  #failure(error: unknown): StoreChanged | HarnessFileError {
    const thrown = error instanceof Thrown ? error.cause : error;
    if (isConflict(thrown)) return new StoreChanged(thrown.paths, thrown);
    const local = !("store" in this.#dir.behind);
    if (local && error instanceof HarnessFileError && error.code === "FS_CONFLICT") {
      this.#unknown = false;
      return new StoreChanged(error.details?.["paths"], error);
    }
    // A callback that its signal ended has its own words for it.
    if (this.#cancellation?.isAborted === true) return this.#cancellation.error();
    return commitFailed(this.#dir.harnessDir, error);
  }

  async #apply(): Promise<void> {
    this.#unknown = true;
    settled(await this.#commit.apply(this.#cancellation?.native), this.#cancellation);
    this.#count(this.#entries);
  }

  async #commitAll(store: Store, cursor: string | null, scope: string): Promise<void> {
    const changes = await outgoing(this.#entries, this.#commit, this.#gate);
    const context = await this.#context(cursor);
    const done = await this.#asking(async () => store.commitAll?.(context, changes, scope));
    const versions = [...(done?.versions ?? [])];
    let text: string | null = null;
    let unfit: unknown;
    try {
      text = await cursorText(done?.cursor);
    } catch (error) {
      unfit = error; // told, once it is noted that the changes have landed
    }
    const paths = versions.map(([path]) => path);
    const noted = await this.#commit.stored(
      text,
      paths,
      versions.map(([, version]) => version),
    );
    if ("failure" in Object(noted)) this.#unknown = true;
    unwrap(noted);
    this.#count(this.#entries);
    if (unfit !== undefined) throw unfitCursor(this.#dir, unfit);
  }

  /** Deletions first: a file may have become a folder. */
  async #sendEach(store: Store, cursor: string | null, scope: string): Promise<void> {
    const { entries } = await outgoing(this.#entries, this.#commit, this.#gate);
    const context = await this.#context(cursor);
    const send = async (change: OutgoingChange): Promise<void> => {
      this.#cancellation?.check();
      const done = await this.#asking(async () => store.send?.(context, change, scope));
      const noted = await this.#commit.landed(change.path, done?.version);
      if ("failure" in Object(noted)) this.#unknown = true;
      unwrap(noted);
      this.#count([change]);
    };
    const deleted = entries.filter(({ change }) => change === "deleted");
    const others = entries.filter(({ change }) => change !== "deleted");
    for (const some of [deleted, others]) await forEach(some, store.concurrency ?? 1, send);
  }

  /** Anything but a conflict may have been applied all the same. */
  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await inside(this.#session.key, this.#dir.harnessDir, ask);
    } catch (error) {
      if (!isConflict(error instanceof Thrown ? error.cause : error)) this.#unknown = true;
      throw error;
    }
  }

  async #context(cursor: string | null): Promise<CommitContext> {
    const known = await parseCursor(cursor);
    return {
      ...contextOf(this.#session, this.#dir, this.#call),
      commitId: this.#commit.id,
      ...(known !== undefined && { cursor: known }),
    };
  }

  #count(changes: ReadonlyArray<Pick<NativeChange, "change">>): void {
    for (const { change } of changes) this.#landed[change]++;
  }
}

function unfitCursor({ harnessDir }: Dir, cause: unknown): HarnessFileError {
  const message = `The store of ${harnessDir} took the changes, but gave a cursor that JSON cannot hold`;
  return new HarnessFileError("FS_COMMIT_FAILED", message, { path: harnessDir, cause });
}

function storeChanged({ harnessDir }: Dir): HarnessFileError {
  return new HarnessFileError("FS_CONFLICT", `The store of ${harnessDir} changed since it was loaded`);
}
