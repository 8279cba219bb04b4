// A load: what is new since the cursor, of one snapshot, contents included.
import type { LoadContext } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import type { Incoming, Loading } from "../persistent/store.js";
import { type Connection, type Pool, READING, begun } from "./connection.js";
import { type Cursor, cursorOf } from "./cursor.js";
import { Download } from "./download.js";
import { type Tables, listing } from "./tables.js";

/** At once across to the addon. */
const LISTED_AT_ONCE = 1000;

interface Row {
  readonly id: string;
  readonly change: string;
  readonly known: string;
  readonly path: string | null;
  readonly content: string | null;
  readonly bytes: string | null;
}

export interface Stored {
  readonly path: string;
  readonly content: string;
  readonly bytes: number;
}

interface Listing {
  readonly cursor: Cursor;
  /** Else it is what is new since the cursor. */
  readonly complete: boolean;
  readonly files: readonly Stored[];
  readonly gone: readonly string[];
}

export async function load(
  pool: Pool,
  tables: Tables,
  scope: string,
  { abortSignal: signal }: LoadContext,
  loading: Loading,
): Promise<{ cursor: Cursor }> {
  const seen = cursorOf(loading.cursor);
  // What is wanted again need not be new: all is listed, and what is as it was is not fetched.
  const since = loading.needed.length === 0 ? seen : undefined;
  const list = (connection: Connection): Promise<Listing> => listed(connection, tables, scope, seen, since);
  if (since !== undefined) {
    const { connection, result } = await begun(pool, signal, undefined, list);
    connection.release();
    if (!result.complete && result.files.length === 0 && result.gone.length === 0) return { cursor: result.cursor };
  }
  const { connection, result } = await begun(pool, signal, READING, list);
  try {
    await take(connection, tables, result, loading.begin(result.complete));
    await connection.query("COMMIT");
  } catch (error) {
    await connection.rollBack(error);
    throw error;
  }
  connection.release();
  return { cursor: result.cursor };
}

async function listed(
  connection: Connection,
  tables: Tables,
  scope: string,
  seen: Cursor | undefined,
  since: Cursor | undefined,
): Promise<Listing> {
  const rows = await connection.query<Row>(listing(tables), [scope, since?.id ?? null, String(since?.change ?? 0)]);
  const [head] = rows;
  if (head === undefined) {
    if (typeof seen?.id === "string") throw vanished(tables);
    return { cursor: { id: null, change: 0 }, complete: since === undefined, files: [], gone: [] };
  }
  const files: Stored[] = [];
  const gone: string[] = [];
  for (const { path, content, bytes } of rows) {
    if (path === null) continue;
    if (content === null) gone.push(path);
    else files.push({ path, content, bytes: Number(bytes) });
  }
  return {
    cursor: { id: head.id, change: Number(head.change) },
    complete: head.known !== "true",
    files,
    gone,
  };
}

/** Another database, or one that was emptied, must not look like a scope whose files were all deleted. */
function vanished({ name, scopes }: Tables): HarnessFileError {
  const message = `The scope was loaded from ${name} before and has no row in ${scopes} any more. Is it another database? To start anew, insert a row for the scope`;
  return new HarnessFileError("FS_LOAD_FAILED", message);
}

async function take(
  connection: Connection,
  tables: Tables,
  { files, gone }: Listing,
  incoming: Incoming,
): Promise<void> {
  if (gone.length > 0) await incoming.gone(gone); // first: a file may have become a folder
  const wanted: Stored[] = [];
  for (let at = 0; at < files.length; at += LISTED_AT_ONCE) {
    const page = files.slice(at, at + LISTED_AT_ONCE);
    const states = await incoming.list(page.map(({ path, content }) => ({ path, version: content })));
    wanted.push(...page.filter((_, n) => states[n] === "wanted"));
  }
  await new Download(connection, tables, incoming).run(wanted);
}
