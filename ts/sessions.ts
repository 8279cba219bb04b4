// Opens, lists and deletes sessions, and knows which handles are open.
import type { HarnessSession, SessionInfo, SessionManager } from "../index.js";
import * as check from "./check.js";
import { toFileError, unwrap } from "./errors.js";
import { sessionInfo } from "./facts.js";
import type { Gate } from "./gate.js";
import type { NativeHost } from "./native.js";
import { Session, type SessionParts } from "./session.js";
import { TurnQueue } from "./turn/turn-queue.js";

const PAGE = 512;

export class Sessions<TExtraBody> implements SessionManager<TExtraBody> {
  readonly #native: NativeHost;
  readonly #gate: Gate;
  readonly #parts: SessionParts;
  readonly #open = new Set<Session<TExtraBody>>();

  constructor(native: NativeHost, gate: Gate, parts: SessionParts) {
    this.#native = native;
    this.#gate = gate;
    this.#parts = parts;
  }

  getOrCreate(options: {
    id: string;
    extraBody?: TExtraBody;
    metadata?: Record<string, unknown>;
  }): Promise<HarnessSession<TExtraBody>> {
    return this.#perform(async () => {
      const { id, extraBody, metadata } = check.readOptions(options, (given) => ({
        id: check.sessionId(given["id"]),
        extraBody: given["extraBody"] as TExtraBody | undefined,
        metadata: check.jsonObject(given, "metadata"),
      }));
      const session = await this.#find(id, extraBody, true, metadata);
      if (session === undefined) throw new Error("the addon made no session");
      return session;
    });
  }

  get(id: string, options?: { extraBody?: TExtraBody }): Promise<HarnessSession<TExtraBody> | undefined> {
    return this.#perform(() => {
      const extraBody = check.readOptions(options, (given) => given["extraBody"] as TExtraBody | undefined);
      return this.#find(check.sessionId(id), extraBody, false);
    });
  }

  async #find(
    id: string,
    extraBody: TExtraBody | undefined,
    create: boolean,
    metadata?: string,
  ): Promise<Session<TExtraBody> | undefined> {
    const native = unwrap(await this.#native.openSession(id, create, metadata));
    if (native === null) return undefined;
    const session = new Session<TExtraBody>(native, this.#key(native.id), extraBody, this.#parts, (closed) =>
      this.#open.delete(closed),
    );
    this.#open.add(session);
    return session;
  }

  /** Two hosts of one process may have the same folder open. */
  #key(id: string): string {
    return `${this.#native.identity}/${id}`;
  }

  list(options?: { limit?: number; after?: string }): Promise<SessionInfo[]> {
    return this.#perform(async () => {
      const given = check.readOptions(options, (read) => ({
        limit: check.limit(read) ?? Infinity,
        after: read["after"] === undefined ? undefined : check.sessionId(read["after"], "after"),
      }));
      const all: SessionInfo[] = [];
      let { after } = given;
      while (all.length < given.limit) {
        const size = Math.min(PAGE, given.limit - all.length);
        const page = unwrap(await this.#native.listSessions(size, after));
        for (const info of page)
          all.push(sessionInfo(info, TurnQueue.isRunning(this.#key(info.id)) ? "running" : "idle"));
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
      this.#parts.sink.deliverAll(this.#native.takeEvents());
      this.#gate.leave();
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.close()));
  }
}
