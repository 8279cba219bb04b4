// A host: one dataDir with its sessions.
import type { LocalHost, LocalHostOptions, SessionManager } from "../index.js";
import { addon as loadAddon } from "./addon.js";
import { checkFree, hold } from "./data-dirs.js";
import { toFileError, unwrap } from "./errors.js";
import { EventSink } from "./events.js";
import { Gate } from "./gate.js";
import { hostOptions } from "./host-options.js";
import type { Addon, NativeHost } from "./native.js";
import { persistenceErrors } from "./persistent/persistence-errors.js";
import type { SessionParts } from "./session.js";
import { Sessions } from "./sessions.js";

export { offloadToolResult } from "./tools/offload-result.js";

export function localHost<TExtraBody = unknown>(options?: LocalHostOptions<TExtraBody>): LocalHost<TExtraBody> {
  try {
    return open(options);
  } catch (error) {
    throw toFileError(error);
  }
}

function open<TExtraBody>(options: unknown): Host<TExtraBody> {
  const { native, onEvent, onPersistenceError, turns, dirs } = hostOptions(options);
  const addon = loadAddon();
  checkFree(native.dataDir, addon);
  const host = unwrap(addon.NativeHost.open(native));
  const sink = new EventSink(onEvent);
  const onFailure = persistenceErrors(onPersistenceError);
  const parts = { addon, sink, turns, offload: turns.offload, dirs, onFailure };
  return new Host(host, parts, claim(host, addon));
}

/** The folder may have been another copy's since it was asked for. */
function claim(host: NativeHost, addon: Addon): () => void {
  try {
    return hold(host.identity, addon);
  } catch (error) {
    void host.close();
    throw error;
  }
}

class Host<TExtraBody> implements LocalHost<TExtraBody> {
  readonly sessions: SessionManager<TExtraBody>;
  readonly #native: NativeHost;
  readonly #gate = new Gate("The host is closed. Open it again.");
  readonly #closeSessions: () => Promise<void>;
  readonly #release: () => void;
  #closing: Promise<void> | undefined;

  constructor(native: NativeHost, parts: SessionParts, release: () => void) {
    const sessions = new Sessions<TExtraBody>(native, this.#gate, parts);
    this.sessions = sessions;
    this.#native = native;
    this.#closeSessions = () => sessions.closeAll();
    this.#release = release;
    // What opening had to tell comes when the caller has its host.
    queueMicrotask(() => parts.sink.deliverAll(native.takeEvents()));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#gate.close();
    await this.#closeSessions();
    try {
      unwrap(await this.#native.close());
    } finally {
      this.#release();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
