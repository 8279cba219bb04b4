// A handle on a session.
import type { FileWriter, HarnessSession, SessionArtifacts, SessionInfo } from "../index.js";
import { artifacts } from "./artifacts.js";
import { unwrap } from "./errors.js";
import { type EventSink, SessionEvents } from "./events.js";
import { sessionInfo } from "./facts.js";
import { fileWriter } from "./file-writer.js";
import { Gate } from "./gate.js";
import type { Addon, NativeSession } from "./native.js";
import { SessionCore } from "./session-core.js";

export class Session<TExtraBody> implements HarnessSession<TExtraBody> {
  readonly id: string;
  readonly files: FileWriter;
  readonly artifacts: SessionArtifacts;
  readonly #core: SessionCore;
  readonly #events: SessionEvents;
  readonly #onClosed: (session: Session<TExtraBody>) => void;
  #closing: Promise<void> | undefined;

  constructor(native: NativeSession, addon: Addon, sink: EventSink, onClosed: (session: Session<TExtraBody>) => void) {
    this.id = native.id;
    this.#events = new SessionEvents(native, sink);
    this.#core = new SessionCore(native, addon, new Gate("session"), this.#events);
    this.files = fileWriter(this.#core, { source: "app-context", origin: "host" });
    this.artifacts = artifacts(this.#core, this.files);
    this.#onClosed = onClosed;
  }

  status(): Promise<SessionInfo> {
    return this.#core.perform({ name: "status", path: undefined }, async () =>
      sessionInfo(unwrap(await this.#core.native.status())),
    );
  }

  flush(): Promise<void> {
    return this.#core.perform({ name: "flush", path: undefined }, async () => {
      unwrap(await this.#core.native.flush());
    });
  }

  hostPaths(): { session: string; artifacts: string; persistent: Record<string, string> } {
    this.#core.gate.check();
    const { session, artifacts: artifactsDir } = unwrap(this.#core.native.hostPaths());
    return { session, artifacts: artifactsDir, persistent: {} };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#core.gate.close();
    await this.#events.settle();
    this.#core.native.close();
    this.#onClosed(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
