// Begins the turns of one session handle, and ends them when it is closed.
import { randomUUID } from "node:crypto";
import type { HarnessSession } from "../../index.js";
import { Cancellation, settled } from "../cancellation.js";
import * as check from "../check.js";
import { HarnessFileError, unwrap } from "../errors.js";
import { refuseInside } from "../persistent/inside.js";
import type { OffloadSettings } from "../tools/offload-options.js";
import { isInside } from "../tools/scope.js";
import type { SessionCore } from "../session-core.js";
import { type Place, TurnQueue } from "./turn-queue.js";
import { Turn } from "./turn.js";

/** What the host says of all turns. */
export interface TurnSettings {
  readonly concurrent: "queue" | "reject";
  readonly offload: OffloadSettings | false;
  /** Whether `finish` flushes. */
  readonly flushes: boolean;
}

interface Given<T> {
  readonly signal: AbortSignal | undefined;
  readonly extraBody: T | undefined;
  /** JSON text of an object. */
  readonly metadata: string | undefined;
}

export class Turns<T> {
  readonly #key: string;
  readonly #core: SessionCore;
  readonly #settings: TurnSettings;
  /** Of the handle, for turns that are given none. */
  readonly #extraBody: T | undefined;
  readonly #closing = new AbortController();
  /** One at most, as long as the lock holds. */
  readonly #running = new Set<Turn<T>>();

  constructor(key: string, core: SessionCore, settings: TurnSettings, extraBody: T | undefined) {
    this.#key = key;
    this.#core = core;
    this.#settings = settings;
    this.#extraBody = extraBody;
  }

  begin(session: HarnessSession<T>, options: unknown): Promise<Turn<T>> {
    return this.#core.perform({ name: "beginTurn", path: undefined }, async () => {
      const given = this.#read(options);
      if (isInside(this.#key)) throw busy("This runs inside a turn of the same session, which would wait for itself");
      refuseInside(this.#key, "beginTurn");
      const wait = this.#settings.concurrent === "queue";
      if (!wait && TurnQueue.isBusy(this.#key)) throw busy("Another turn of this session is running");
      const cancellation = new Cancellation(this.#signals(given), new this.#core.addon.NativeCancel());
      const queue = TurnQueue.of(this.#key);
      const place = queue.join();
      try {
        await Promise.race([place.ready, cancellation.aborted]);
        const native = settled(await this.#core.native.beginTurn(wait, cancellation.native), cancellation);
        const id = randomUUID() as string;
        try {
          cancellation.check();
          await this.#core.persistent.refresh({ extraBody: given.extraBody, turnId: id, cancellation });
          cancellation.check();
          await this.#tell(id, given);
        } catch (error) {
          native.end();
          throw error;
        }
        const stopped = queue.run();
        return this.#open(id, session, given, (turn) => {
          this.#running.delete(turn);
          native.end();
          stopped();
          place.leave();
        });
      } catch (error) {
        this.#giveUp(place);
        throw error;
      } finally {
        cancellation.dispose();
      }
    });
  }

  #read(options: unknown): Given<T> {
    return check.readOptions(options, (given) => {
      const extraBody = given["extraBody"] === undefined ? this.#extraBody : (given["extraBody"] as T);
      return { signal: check.signal(given), extraBody, metadata: check.jsonObject(given, "metadata") };
    });
  }

  /** What the host says of a turn stands once in its events, which all have its id. */
  async #tell(id: string, { metadata }: Given<T>): Promise<void> {
    if (metadata === undefined) return;
    unwrap(await this.#core.native.emit("harness.turn.started", `{"metadata":${metadata}}`, id));
  }

  #signals({ signal }: Given<T>): AbortSignal[] {
    return signal === undefined ? [this.#closing.signal] : [signal, this.#closing.signal];
  }

  #open(
    id: string,
    session: HarnessSession<T>,
    { signal, extraBody }: Given<T>,
    onEnd: (turn: Turn<T>) => void,
  ): Turn<T> {
    const turn = new Turn<T>({
      id,
      key: this.#key,
      core: this.#core,
      settings: this.#settings,
      session,
      signal,
      extraBody,
      onEnd,
    });
    this.#running.add(turn);
    return turn;
  }

  #giveUp(place: Place): void {
    place.leave();
    this.#core.gate.check(); // the handle was closed: that is what there is to tell
  }

  /** Ends what runs and what waits to. The gate is closed by then. */
  async close(): Promise<void> {
    this.#closing.abort();
    const reason = new HarnessFileError("FS_CLOSED", "The session was closed while the turn ran");
    await Promise.all([...this.#running].map((turn) => turn.abort(reason)));
  }
}

function busy(message: string): HarnessFileError {
  return new HarnessFileError("FS_BUSY", `${message}. Finish or abort that one first.`);
}
