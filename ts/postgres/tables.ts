// The three tables and their SQL. `createSchema` and docs/stores.md say the same; a test compares them.
import * as check from "../check.js";

/** As SQL names them. */
export interface Tables {
  readonly files: string;
  readonly scopes: string;
  readonly chunks: string;
  /** As the developer named them. */
  readonly name: string;
}

export const DEFAULT_TABLE = "harness_files";
/** A content is cut into parts of this size. A value is held whole by client and server. */
export const CHUNK_BYTES = 1024 * 1024;
export const MAX_SCOPE_BYTES = 900;

/** The server cuts longer names off at 63 bytes, and the longest of ours ends in "_chunks". */
const MAX_NAME_BYTES = 56;
const NAME = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;

/** `name` or `schema.name`, taken as written: the case counts. */
export function tablesOf(options: check.Options): Tables {
  const name = check.text(options, "table", 2 * MAX_NAME_BYTES + 1) ?? DEFAULT_TABLE;
  const parts = name.split(".");
  const fits = parts.every((part) => NAME.test(part) && Buffer.byteLength(part) <= MAX_NAME_BYTES);
  if (!fits || parts.length > 2) {
    const accepted = `"name" or "schema.name" of letters, digits, _, $ and -, each at most ${MAX_NAME_BYTES} bytes`;
    throw check.invalidOption("table", accepted, name);
  }
  const quoted = (suffix: string): string =>
    parts.map((part, n) => `"${part}${n === parts.length - 1 ? suffix : ""}"`).join(".");
  return { files: quoted(""), scopes: quoted("_scopes"), chunks: quoted("_chunks"), name };
}

/** The primary key has it instead of the path: a path may be longer than an index entry. */
const digest = (path: string): string => `sha256(decode(replace(${path}, chr(92), repeat(chr(92), 2)), 'escape'))`;

export function schemaOf({ files, scopes, chunks }: Tables): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${scopes} (
  scope text COLLATE "C" PRIMARY KEY CHECK (octet_length(scope) BETWEEN 1 AND ${MAX_SCOPE_BYTES}),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  change bigint NOT NULL DEFAULT 1,
  purged bigint NOT NULL DEFAULT 0
)`,
    `CREATE TABLE IF NOT EXISTS ${files} (
  scope text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 4096),
  path_key bytea NOT NULL GENERATED ALWAYS AS (${digest("path")}) STORED,
  change bigint NOT NULL,
  content uuid UNIQUE,
  bytes bigint,
  sha256 text,
  media_type text,
  commit_id text,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, path_key),
  UNIQUE (scope, change, path_key),
  CHECK ((content IS NULL) = (bytes IS NULL))
)`,
    `CREATE TABLE IF NOT EXISTS ${chunks} (
  content uuid NOT NULL,
  part integer NOT NULL,
  data bytea NOT NULL CHECK (octet_length(data) <= ${CHUNK_BYTES}),
  PRIMARY KEY (content, part)
)`,
  ];
}

// Every value leaves and comes as text: what the developer's own type parsers make of numbers and bytes does not matter then. For
// contents that is base64, a third less than bytea's own hex and faster to read.

/** $1 scope, $2 the cursor's id, $3 its change. A row without a path: nothing is new. No row: there is no such scope. */
export const listing = ({ files, scopes }: Tables): string => `
SELECT s.id::text AS id, s.change::text AS change, s.known::text AS known, f.path, f.content::text AS content, f.bytes::text AS bytes
FROM (
  SELECT *, coalesce(id::text = $2::text AND purged <= $3::bigint AND change >= $3::bigint, false) AS known FROM ${scopes} WHERE scope = $1
) s LEFT JOIN ${files} f ON f.scope = s.scope
  AND f.change > CASE WHEN s.known THEN $3::bigint ELSE -1 END AND (s.known OR f.content IS NOT NULL)`;

/** $1 contents, as the text of an array of uuid. */
export const contentsOf = ({ chunks }: Tables): string =>
  `SELECT content::text AS content, encode(data, 'base64') AS data FROM ${chunks} WHERE content = ANY ($1::uuid[]) ORDER BY content, part`;

/** $1 content, $2 part. */
export const chunkOf = ({ chunks }: Tables): string =>
  `SELECT encode(data, 'base64') AS data FROM ${chunks} WHERE content = $1::uuid AND part = $2::integer`;

/** $1 scope. Locks the scope until the transaction ends, and gives it its next number. */
export const nextChange = ({ scopes }: Tables): string => `
INSERT INTO ${scopes} AS s (scope) VALUES ($1)
ON CONFLICT (scope) DO UPDATE SET change = s.change + 1 RETURNING id::text AS id, change::text AS change`;

/** $1 scope, $2 paths as a JSON array. */
export const rowsOf = ({ files }: Tables): string => `
SELECT path, content::text AS content, sha256, commit_id FROM ${files}
WHERE scope = $1 AND path_key = ANY (ARRAY(SELECT ${digest("each")} FROM json_array_elements_text($2::json) AS each))`;

/** $1 scope, $2 a change: what there is that came after it. */
export const newerPaths = ({ files }: Tables): string =>
  `SELECT path FROM ${files} WHERE scope = $1 AND change > $2::bigint AND content IS NOT NULL`;

/** $1 scope, $2 change, $3 commit, $4 rows as JSON; those without content are deleted files. */
export const putRows = ({ files }: Tables): string => `
INSERT INTO ${files} (scope, path, change, content, bytes, sha256, media_type, commit_id)
SELECT $1, r.path, $2::bigint, r.content, r.bytes, r.sha256, r.media_type, $3
FROM json_to_recordset($4::json) AS r(path text, content uuid, bytes bigint, sha256 text, media_type text)
ON CONFLICT (scope, path_key) DO UPDATE SET change = excluded.change, content = excluded.content, bytes = excluded.bytes,
  sha256 = excluded.sha256, media_type = excluded.media_type, commit_id = excluded.commit_id, changed_at = now()`;

/** As many rows of content, part and data as are said. */
export function putChunks({ chunks }: Tables, count: number): string {
  const row = (n: number): string => `($${3 * n + 1}::uuid, $${3 * n + 2}::integer, $${3 * n + 3}::bytea)`;
  return `INSERT INTO ${chunks} (content, part, data) VALUES ${Array.from({ length: count }, (_, n) => row(n)).join(", ")}`;
}

/** $1 contents, as the text of an array of uuid. */
export const dropChunks = ({ chunks }: Tables): string => `DELETE FROM ${chunks} WHERE content = ANY ($1::uuid[])`;
