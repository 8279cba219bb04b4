// A handle on a session.
import type {
  FileWriter,
  HarnessSession,
  MessageLike,
  Persistence,
  SessionArtifacts,
  SessionInfo,
  StageMessagesOptions,
  StagedMessages,
  Turn,
} from "../index.js";
import { artifacts } from "./artifacts.js";
import { Cancellation } from "./cancellation.js";
import { unwrap } from "./errors.js";
import { type EventSink, SessionEvents } from "./events.js";
import { sessionInfo } from "./facts.js";
import { fileWriter } from "./file-writer.js";
import { Gate } from "./gate.js";
import type { NativeSession } from "./native.js";
import type { DirSession } from "./persistent/dir.js";
import { persistence } from "./persistent/persistence.js";
import { SessionDirs } from "./persistent/session-dirs.js";
import { type CoreParts, SessionCore } from "./session-core.js";
import { stageMessages } from "./staging/stage-messages.js";
import { TurnQueue } from "./turn/turn-queue.js";
import { type TurnSettings, Turns } from "./turn/turns.js";

/** What the sessions of a host have in common. */
export interface SessionParts extends Pick<CoreParts, "addon" | "offload">, Pick<DirSession, "dirs" | "onFailure"> {
  readonly sink: EventSink;
  readonly turns: TurnSettings;
}

export class Session<TExtraBody> implements HarnessSession<TExtraBody> {
  readonly id: string;
  readonly files: FileWriter;
  readonly artifacts: SessionArtifacts;
  readonly persistence: Persistence;
  readonly #core: SessionCore;
  /** Names the session among all of this process. */
  readonly #key: string;
  readonly #turns: Turns<TExtraBody>;
  readonly #extraBody: TExtraBody | undefined;
  readonly #onClosed: (session: Session<TExtraBody>) => void;
  #closing: Promise<void> | undefined;

  constructor(
    native: NativeSession,
    key: string,
    extraBody: TExtraBody | undefined,
    { addon, sink, turns, offload, dirs, onFailure }: SessionParts,
    onClosed: (session: Session<TExtraBody>) => void,
  ) {
    this.id = native.id;
    const gate = new Gate("The session is closed. Open it again.");
    const events = new SessionEvents(native, sink);
    const cancellation = (signal?: AbortSignal): Cancellation | undefined =>
      signal && new Cancellation([signal], new addon.NativeCancel());
    const persistent = new SessionDirs({ native, events, key, dirs, cancellation, onFailure }, extraBody);
    this.#core = new SessionCore({ native, addon, gate, events, offload, persistent });
    this.#key = key;
    this.#extraBody = extraBody;
    this.#turns = new Turns(key, this.#core, turns, extraBody);
    this.files = fileWriter(this.#core, { source: "app-context", origin: "host" });
    this.artifacts = artifacts(this.#core, this.files);
    this.persistence = persistence(this.#core);
    this.#onClosed = onClosed;
  }

  status(): Promise<SessionInfo & { stagedMessageIds: string[] }> {
    return this.#core.perform({ name: "status", path: undefined }, async () => {
      const info = unwrap(await this.#core.native.status());
      const stagedMessageIds = unwrap(await this.#core.native.stagedMessageIds());
      return { ...sessionInfo(info, TurnQueue.isRunning(this.#key) ? "running" : "idle"), stagedMessageIds };
    });
  }

  beginTurn(options?: Parameters<HarnessSession<TExtraBody>["beginTurn"]>[0]): Promise<Turn<TExtraBody>> {
    return this.#turns.begin(this, options);
  }

  async stageMessages<M extends MessageLike>(
    messages: readonly M[],
    options?: StageMessagesOptions<TExtraBody, M>,
  ): Promise<StagedMessages<M>> {
    const place = { session: this, core: this.#core, key: this.#key, extraBody: this.#extraBody };
    return stageMessages(place, messages, options);
  }

  flush(): Promise<void> {
    return this.#core.perform({ name: "flush", path: undefined }, async () => {
      unwrap(await this.#core.native.flush());
    });
  }

  hostPaths(): { session: string; artifacts: string; persistent: Record<string, string> } {
    this.#core.gate.check();
    const { session, artifacts: artifactsDir, persistent } = unwrap(this.#core.native.hostPaths());
    const folders = this.#core.persistent.session.dirs.map(({ harnessDir, index }) => [harnessDir, persistent[index]]);
    return { session, artifacts: artifactsDir, persistent: Object.fromEntries(folders) as Record<string, string> };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const idle = this.#core.gate.close();
    await this.#turns.close();
    await idle;
    await this.#core.events.settle();
    this.#core.native.close();
    this.#onClosed(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
