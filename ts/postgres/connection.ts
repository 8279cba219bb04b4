// One client of the pool for as long as a load or commit needs it, and transactions on it.
import { setTimeout as sleep } from "node:timers/promises";
import { type Abortable, ignore, listen, unlisten } from "../cancellation.js";
import { isContention, isLost, isUnusable } from "./failure.js";

/** Of `pg`, as far as it is used here. */
export interface Pool {
  connect(): Promise<Client>;
}

interface Client {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
  release(error?: Error | boolean): void;
  /** A client that its pool has lent tells of a lost connection here, and ends the process when nobody listens. */
  on?(event: "error", listener: (error: Error) => void): unknown;
  removeListener?(event: "error", listener: (error: Error) => void): unknown;
}

/** A transaction that stands still, such as that of a process which was stopped, would keep the scope from all others. */
const PAUSE = "SET LOCAL idle_in_transaction_session_timeout = '60s'";
/** Whatever the role's defaults are. */
export const READING = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${PAUSE}`;
export const WRITING = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${PAUSE}`;

const MAX_CONTENDED = 6;
/** A pool may hold several clients whose connections went away while they were idle. */
const MAX_LOST = 3;
const PAUSE_MS = 15;

export class Connection implements Abortable {
  readonly #client: Client;
  readonly #signal: AbortSignal | undefined;
  /** Who waits for an answer. A promise to race against would keep every answer until the connection ends. */
  readonly #waiting = new Set<(error: unknown) => void>();
  /** Why there is nothing more to be had: the call was aborted, or the connection is lost. */
  #over: { readonly error: unknown } | undefined;

  private constructor(client: Client, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
    client.on?.("error", this.#end);
    if (signal !== undefined) listen(signal, this);
    if (signal?.aborted === true) this.abort();
  }

  static async open(pool: Pool, signal: AbortSignal | undefined): Promise<Connection> {
    signal?.throwIfAborted();
    const connecting = pool.connect();
    if (signal === undefined) return new Connection(await connecting, signal);
    let waiting: Abortable = { abort: ignore };
    const aborted = new Promise<never>((_, reject) => {
      waiting = { abort: () => reject(signal.reason as Error) };
    });
    listen(signal, waiting);
    try {
      return new Connection(await Promise.race([connecting, aborted]), signal);
    } catch (error) {
      connecting.then((client) => client.release()).catch(ignore); // nobody else gives it back
      throw error;
    } finally {
      unlisten(signal, waiting);
    }
  }

  abort(): void {
    this.#end(this.#signal?.reason);
  }

  readonly #end = (error: unknown): void => {
    this.#over ??= { error };
    for (const reject of this.#waiting) reject(error);
  };

  async query<Row = never>(text: string, values?: unknown[]): Promise<Row[]> {
    if (this.#over !== undefined) throw this.#over.error;
    const { rows } = await new Promise<{ rows: unknown[] }>((resolve, reject) => {
      this.#waiting.add(reject);
      const over = (): boolean => this.#waiting.delete(reject);
      this.#client.query(text, values).finally(over).then(resolve, reject);
    });
    return rows as Row[];
  }

  /** `error`: the connection is of no use any more, or a query is still under way; the pool then closes it. */
  release(error?: unknown): void {
    if (this.#signal !== undefined) unlisten(this.#signal, this);
    this.#client.release(error === undefined ? undefined : error instanceof Error ? error : true);
    this.#client.removeListener?.("error", this.#end);
    // The pool closes it, and it may yet tell of an error.
    if (error !== undefined) this.#client.on?.("error", ignore);
  }

  /** Ends the transaction after a failure, whose error is the one to tell. */
  async rollBack(error: unknown): Promise<void> {
    if (this.#over !== undefined || isUnusable(error)) return this.release(error);
    try {
      await this.query("ROLLBACK");
    } catch (broken) {
      return this.release(broken);
    }
    this.release();
  }
}

/** A transaction that is under way; who called ends it. `work` is tried again when that can help. */
export async function begun<T>(
  pool: Pool,
  signal: AbortSignal | undefined,
  begin: string | undefined,
  work: (connection: Connection) => Promise<T>,
): Promise<{ readonly connection: Connection; readonly result: T }> {
  return retried(signal, async () => {
    const connection = await Connection.open(pool, signal);
    try {
      if (begin !== undefined) await connection.query(begin);
      return { connection, result: await work(connection) };
    } catch (error) {
      if (begin === undefined) connection.release(isUnusable(error) || signal?.aborted === true ? error : undefined);
      else await connection.rollBack(error);
      throw error;
    }
  });
}

/** The whole of it is tried again, also when the answer to COMMIT was lost: `work` has to find what it has done already. */
export async function transaction<T>(
  pool: Pool,
  signal: AbortSignal | undefined,
  begin: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { connection, result } = await begun(pool, signal, begin, async (each) => {
    const done = await work(each);
    await each.query("COMMIT");
    return done;
  });
  connection.release();
  return result;
}

async function retried<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  for (let contended = 0, lost = 0; ;) {
    try {
      return await attempt();
    } catch (error) {
      if (isContention(error)) contended++;
      else if (isLost(error)) lost++;
      else throw error;
      if (signal?.aborted === true || contended >= MAX_CONTENDED || lost >= MAX_LOST) throw error;
      await sleep(PAUSE_MS * 2 ** (contended + lost) * (0.5 + Math.random()));
    }
  }
}
