// A commit: one transaction, all or nothing.
import { PersistentDirConflict } from "../persistent/conflict.js";
import type { CommitContext, Outgoing, OutgoingChange } from "../persistent/store.js";
import { type Connection, type Pool, WRITING, transaction } from "./connection.js";
import { type Cursor, cursorOf } from "./cursor.js";
import { type Tables, dropChunks, newerPaths, nextChange, putRows, rowsOf } from "./tables.js";
import { Upload } from "./upload.js";

const ROWS_AT_ONCE = 1000;

interface Row {
  readonly path: string;
  readonly content: string | null;
  readonly sha256: string | null;
  readonly commit_id: string | null;
}
type Rows = ReadonlyMap<string, Row>;

export interface Committed {
  readonly cursor?: Cursor;
  readonly versions: ReadonlyMap<string, string>;
}

export function commit(
  pool: Pool,
  tables: Tables,
  scope: string,
  ctx: CommitContext,
  changes: Outgoing,
): Promise<Committed> {
  return transaction(pool, ctx.abortSignal, WRITING, (connection) =>
    new Attempt(connection, tables, scope, ctx).run(changes.entries),
  );
}

class Attempt {
  readonly #connection: Connection;
  readonly #tables: Tables;
  readonly #scope: string;
  readonly #commitId: string;
  readonly #cursor: Cursor | undefined;

  constructor(connection: Connection, tables: Tables, scope: string, { commitId, cursor }: CommitContext) {
    this.#connection = connection;
    this.#tables = tables;
    this.#scope = scope;
    this.#commitId = commitId;
    this.#cursor = cursorOf(cursor);
  }

  async run(changes: readonly OutgoingChange[]): Promise<Committed> {
    const before = await this.#rows(changes);
    const left = this.#unsent(changes, before);
    const versions = versionsOf(changes, before);
    // An attempt before this one has landed, and its answer was lost.
    if (left.length === 0) return this.#committed(this.#cursor, versions);
    const upload = new Upload(this.#connection, this.#tables);
    await upload.run(left.filter(({ change }) => change !== "deleted"));
    // From here on the scope is ours, so that what is compared now stays as it is.
    const { id, change } = await this.#next();
    const now = await this.#rows(left);
    if (this.#unsent(left, now).length < left.length) throw new PersistentDirConflict(left.map(({ path }) => path));
    const alone = this.#cursor?.change === change - 1 && (this.#cursor.id === id || change === 1);
    if (!alone) await this.#checkTree(left, id);
    await this.#put(left, change, upload.contents);
    await this.#drop(left, now);
    for (const [path, content] of upload.contents) versions.set(path, content);
    // What others committed meanwhile has to come with the next load.
    return this.#committed(alone ? { id, change } : this.#cursor, versions);
  }

  #committed(cursor: Cursor | undefined, versions: ReadonlyMap<string, string>): Committed {
    return { versions, ...(cursor !== undefined && { cursor }) };
  }

  async #rows(changes: readonly OutgoingChange[]): Promise<Rows> {
    const found = new Map<string, Row>();
    for (const page of pages(changes)) {
      const paths = JSON.stringify(page.map(({ path }) => path));
      const rows = await this.#connection.query<Row>(rowsOf(this.#tables), [this.#scope, paths]);
      for (const row of rows) found.set(row.path, row);
    }
    return found;
  }

  /** What has not landed yet; all of it may still be sent. */
  #unsent(changes: readonly OutgoingChange[], rows: Rows): OutgoingChange[] {
    const left: OutgoingChange[] = [];
    const conflicts: string[] = [];
    for (const change of changes) {
      const row = rows.get(change.path);
      if (this.#hasLanded(change, row)) continue;
      if (isBase(change, row)) left.push(change);
      else conflicts.push(change.path);
    }
    if (conflicts.length > 0) throw new PersistentDirConflict(conflicts);
    return left;
  }

  /** The same content of somebody else is left to a load, which looks at the content itself. */
  #hasLanded({ change, sha256 }: OutgoingChange, row: Row | undefined): boolean {
    const content = row?.content ?? null;
    if (change === "deleted") return content === null;
    return content !== null && row?.commit_id === this.#commitId && row.sha256 === sha256;
  }

  async #next(): Promise<{ id: string; change: number }> {
    const query = nextChange(this.#tables);
    const [row] = await this.#connection.query<{ id: string; change: string }>(query, [this.#scope]);
    if (row === undefined) throw new Error("a statement that returns a row returned none");
    return { id: row.id, change: Number(row.change) };
  }

  /** Somebody may have made a file where we need a folder, or the other way round. */
  async #checkTree(changes: readonly OutgoingChange[], id: string): Promise<void> {
    const written = new Set<string>();
    const deleted = new Set<string>();
    for (const { path, change } of changes) (change === "deleted" ? deleted : written).add(path);
    const folders = new Map<string, string>();
    for (const path of written) for (const folder of foldersOf(path)) folders.set(folder, path);
    const since = this.#cursor?.id === id ? this.#cursor.change : -1;
    const newer = await this.#connection.query<{ path: string }>(newerPaths(this.#tables), [
      this.#scope,
      String(since),
    ]);
    const conflicts = new Set<string>();
    for (const { path } of newer) {
      if (deleted.has(path)) continue;
      const inside = folders.get(path);
      if (inside !== undefined) conflicts.add(inside);
      for (const folder of foldersOf(path)) if (written.has(folder)) conflicts.add(folder);
    }
    if (conflicts.size > 0) throw new PersistentDirConflict([...conflicts]);
  }

  async #put(changes: readonly OutgoingChange[], change: number, contents: ReadonlyMap<string, string>): Promise<void> {
    for (const page of pages(changes)) {
      const rows = page.map(({ path, bytes, sha256, mediaType }) => {
        const content = contents.get(path);
        return content === undefined ? { path } : { path, content, bytes, sha256, media_type: mediaType };
      });
      const values = [this.#scope, String(change), this.#commitId, JSON.stringify(rows)];
      await this.#connection.query(putRows(this.#tables), values);
    }
  }

  async #drop(changes: readonly OutgoingChange[], before: Rows): Promise<void> {
    const contents = changes.map(({ path }) => before.get(path)?.content).filter((each) => typeof each === "string");
    for (const page of pages(contents)) await this.#connection.query(dropChunks(this.#tables), [`{${page.join()}}`]);
  }
}

/** Whether the file is still what the change was made to. */
function isBase({ base }: OutgoingChange, row: Row | undefined): boolean {
  const content = row?.content ?? null;
  if (base === undefined || content === null) return base === undefined && content === null;
  return base.version === undefined ? row?.sha256 === base.sha256 : content === base.version;
}

function versionsOf(changes: readonly OutgoingChange[], rows: Rows): Map<string, string> {
  const versions = new Map<string, string>();
  for (const { path, change } of changes) {
    const content = rows.get(path)?.content;
    if (change !== "deleted" && typeof content === "string") versions.set(path, content);
  }
  return versions;
}

function* foldersOf(path: string): Generator<string> {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) yield path.slice(0, end);
}

function* pages<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += ROWS_AT_ONCE) yield items.slice(at, at + ROWS_AT_ONCE);
}
