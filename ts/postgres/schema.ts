// Makes the tables, whoever else is about to.
import * as check from "../check.js";
import { type Pool, WRITING, transaction } from "./connection.js";
import { told } from "./failure.js";
import { poolOf } from "./options.js";
import { schemaOf, tablesOf } from "./tables.js";

/** IF NOT EXISTS alone does not do: two at once both find that there is none, and one of them fails. */
const ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('@little-stack/files createSchema', 0))";

export async function createSchema(given: Pool, options: { table?: string } = {}): Promise<void> {
  const pool = poolOf({ pool: given });
  const tables = check.readOptions(options, tablesOf);
  const { files, scopes, chunks } = tables;
  try {
    await transaction(pool, undefined, WRITING, async (connection) => {
      await connection.query(ONE_AT_A_TIME);
      // Looked for first: a role that may not create is refused even where there is nothing to create.
      const found = await connection.query<{ missing: string }>(
        "SELECT count(*)::text AS missing FROM unnest(ARRAY[$1, $2, $3]::text[]) AS name WHERE to_regclass(name) IS NULL",
        [files, scopes, chunks],
      );
      if (found[0]?.missing === "0") return;
      for (const statement of schemaOf(tables)) await connection.query(statement);
    });
  } catch (error) {
    throw told("FS_IO_ERROR", `The tables of ${tables.name} could not be made`, error);
  }
}
