// Opens, lists and deletes sessions, and knows which handles are open.
import type { HarnessSession, SessionInfo, SessionManager } from "../index.js";
import * as check from "./check.js";
import { toFileError, unwrap } from "./errors.js";
import type { EventSink } from "./events.js";
import { sessionInfo } from "./facts.js";
import type { Gate } from "./gate.js";
import type { Addon, NativeHost } from "./native.js";
import { Session } from "./session.js";

const PAGE = 512;

export class Sessions<TExtraBody> implements SessionManager<TExtraBody> {
  readonly #native: NativeHost;
  readonly #addon: Addon;
  readonly #gate: Gate;
  readonly #sink: EventSink;
  readonly #open = new Set<Session<TExtraBody>>();

  constructor(native: NativeHost, addon: Addon, gate: Gate, sink: EventSink) {
    this.#native = native;
    this.#addon = addon;
    this.#gate = gate;
    this.#sink = sink;
  }

  getOrCreate(options: { id: string; metadata?: Record<string, unknown> }): Promise<HarnessSession<TExtraBody>> {
    return this.#perform(async () => {
      const { id, metadata } = check.readOptions(options, (given) => ({
        id: check.sessionId(given["id"]),
        metadata: check.jsonObject(given, "metadata"),
      }));
      const session = await this.#find(id, true, metadata);
      if (session === undefined) throw new Error("the addon made no session");
      return session;
    });
  }

  get(id: string): Promise<HarnessSession<TExtraBody> | undefined> {
    return this.#perform(() => this.#find(check.sessionId(id), false));
  }

  async #find(id: string, create: boolean, metadata?: string): Promise<Session<TExtraBody> | undefined> {
    const native = unwrap(await this.#native.openSession(id, create, metadata));
    if (native === null) return undefined;
    const session = new Session<TExtraBody>(native, this.#addon, this.#sink, (closed) => this.#open.delete(closed));
    this.#open.add(session);
    return session;
  }

  list(options?: { limit?: number; after?: string }): Promise<SessionInfo[]> {
    return this.#perform(async () => {
      const given = check.readOptions(options, (read) => ({
        limit: check.limit(read) ?? Infinity,
        after: read["after"] === undefined ? undefined : check.sessionId(read["after"]),
      }));
      const all: SessionInfo[] = [];
      let { after } = given;
      while (all.length < given.limit) {
        const size = Math.min(PAGE, given.limit - all.length);
        const page = unwrap(await this.#native.listSessions(size, after));
        for (const info of page) all.push(sessionInfo(info));
        if (page.length < size) break;
        after = page.at(-1)?.id;
      }
      return all;
    });
  }

  delete(id: string): Promise<void> {
    return this.#perform(async () => {
      unwrap(await this.#native.deleteSession(check.sessionId(id)));
    });
  }

  async #perform<T>(work: () => Promise<T>): Promise<T> {
    this.#gate.enter();
    try {
      return await work();
    } catch (error) {
      throw toFileError(error);
    } finally {
      this.#sink.deliverAll(this.#native.takeEvents());
      this.#gate.leave();
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.close()));
  }
}
