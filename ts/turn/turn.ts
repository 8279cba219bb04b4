// One turn: its writer, its tools, its end.
import type {
  CommitMode,
  FileChange,
  FileWriter,
  FinishedTurn,
  HarnessSession,
  HarnessToolContext,
  PersistenceStatus,
  Turn as Contract,
} from "../../index.js";
import { artifacts } from "../artifacts.js";
import { type Abortable, type Cancellation, ignore, listen, unlisten } from "../cancellation.js";
import * as check from "../check.js";
import { HarnessFileError, toFileError, unwrap } from "../errors.js";
import { fileWriter } from "../file-writer.js";
import type { Writer } from "../file-options.js";
import type { Call } from "../persistent/dir.js";
import { refuseInside } from "../persistent/inside.js";
import type { SessionCore } from "../session-core.js";
import { withMark } from "../tools/context.js";
import { runInside } from "../tools/scope.js";
import { ToolWrapper } from "../tools/wrap.js";
import { callbacks } from "./callbacks.js";
import { track } from "./track.js";
import { TurnCore } from "./turn-core.js";
import type { TurnSettings } from "./turns.js";

export interface TurnParts<T> {
  readonly id: string;
  readonly key: string;
  readonly core: SessionCore;
  readonly settings: TurnSettings;
  readonly session: HarnessSession<T>;
  readonly signal: AbortSignal | undefined;
  readonly extraBody: T | undefined;
  /** Frees the lock. Called once, when all is over. */
  readonly onEnd: (turn: Turn<T>) => void;
}

export class Turn<T> implements Contract<T>, AsyncDisposable {
  readonly id: string;
  readonly files: FileWriter;
  readonly context: HarnessToolContext<T>;
  readonly tools: Contract<T>["tools"];
  readonly #parts: TurnParts<T>;
  readonly #core: TurnCore;
  readonly #onSignal: Abortable = { abort: () => void this.abort(this.#parts.signal?.reason) };
  #finishing: Promise<FinishedTurn> | undefined;
  #aborting: Promise<void> | undefined;
  #abortReason: unknown;

  constructor(parts: TurnParts<T>) {
    this.id = parts.id;
    const core = new TurnCore(parts.core, this.id);
    const writer: Writer = { source: "tool", origin: "tool", turnId: this.id };
    this.#parts = parts;
    this.#core = core;
    this.files = fileWriter(core, writer);
    const wrapper = new ToolWrapper(core, writer, parts.settings.offload, (context, fn) => this.#inside(context, fn));
    this.tools = (tools, options) => wrapper.wrap(tools, options, this.context);
    this.context = withMark({
      session: parts.session,
      files: this.files,
      artifacts: artifacts(core, this.files),
      ...(parts.extraBody !== undefined && { extraBody: parts.extraBody }),
      turnId: this.id,
      tools: this.tools,
    });
    core.events.watch((event) => core.log.noteEvent(event));
    if (parts.signal !== undefined) listen(parts.signal, this.#onSignal);
  }

  #inside<R>(context: HarnessToolContext<T>, fn: () => R): R {
    return runInside({ key: this.#parts.key, context, isOpen: () => !this.#core.gate.closed }, fn);
  }

  run<R>(fn: () => R): R {
    check.callable(fn, "fn");
    return this.#inside(this.context, fn);
  }

  track<R>(fn: () => Promise<R>, options?: { source?: string }): Promise<{ result: R; changes: FileChange[] }> {
    return track(this.#core, () => this.run(fn), options);
  }

  callbacks(mine?: Parameters<Contract<T>["callbacks"]>[0]): ReturnType<Contract<T>["callbacks"]> {
    const finish = async (): Promise<void> => {
      if (this.#aborting === undefined) await this.finish();
    };
    return callbacks(finish, (reason) => this.abort(reason), mine);
  }

  finish(options?: { signal?: AbortSignal }): Promise<FinishedTurn> {
    if (this.#aborting !== undefined) return Promise.reject(this.#aborted());
    if (this.#finishing !== undefined) return this.#finishing;
    try {
      const signal = check.readOptions(options, check.signal);
      return (this.#finishing = this.#finish(signal));
    } catch (error) {
      return Promise.reject(error as HarnessFileError); // an option that makes no sense; the turn goes on
    }
  }

  async #finish(signal: AbortSignal | undefined): Promise<FinishedTurn> {
    this.#ignoreSignal();
    const closed = this.#core.gate.close();
    try {
      return await this.#parts.core.cancellable(signal, async (cancellation) => {
        const flushed = this.#flush(closed);
        await (cancellation === undefined ? flushed : Promise.race([flushed, cancellation.aborted]));
        return this.#complete(cancellation);
      });
    } catch (error) {
      this.#core.abortCalls(error);
      throw toFileError(error);
    } finally {
      await closed;
      this.#end();
    }
  }

  async #flush(closed: Promise<void>): Promise<void> {
    await closed;
    if (!this.#parts.settings.flushes) return;
    unwrap(await this.#core.native.flush());
    await this.#core.persistent.flushManual(this.#call(undefined));
  }

  async #complete(cancellation: Cancellation | undefined): Promise<FinishedTurn> {
    const persistence = await this.#commit("after-turn", cancellation);
    await this.#core.events.settle();
    return {
      turnId: this.id,
      persistence,
      files: this.#core.log.files(),
      commitManual: () =>
        this.#parts.core.perform({ name: "commitManual", path: undefined, turnId: this.id }, async () => {
          refuseInside(this.#parts.key, "commitManual");
          return this.#commit("manual", undefined);
        }),
    };
  }

  #commit(mode: CommitMode, cancellation: Cancellation | undefined): Promise<PersistenceStatus> {
    return this.#core.persistent.commit(this.#call(cancellation), ({ commit }) => commit === mode);
  }

  #call(cancellation: Cancellation | undefined): Call {
    return { extraBody: this.#parts.extraBody, turnId: this.id, cancellation };
  }

  abort(reason?: unknown): Promise<void> {
    if (this.#finishing !== undefined) return this.#finishing.then(ignore, ignore);
    return (this.#aborting ??= this.#abort(reason));
  }

  async #abort(reason: unknown): Promise<void> {
    this.#ignoreSignal();
    this.#abortReason = reason;
    const closed = this.#core.gate.close();
    this.#core.abortCalls(reason);
    await closed;
    await this.#core.events.settle();
    this.#end();
  }

  #aborted(): HarnessFileError {
    return new HarnessFileError("FS_ABORTED", "The turn was aborted; it cannot be finished", {
      cause: this.#abortReason,
    });
  }

  #ignoreSignal(): void {
    if (this.#parts.signal !== undefined) unlisten(this.#parts.signal, this.#onSignal);
  }

  #end(): void {
    this.#core.events.watch(undefined);
    this.#parts.onEnd(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.abort();
  }
}
