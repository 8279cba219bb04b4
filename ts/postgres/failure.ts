// What a failed query means: whether trying again can help, and what to tell the developer.
import { HarnessFileError, nameOf } from "../errors.js";
import { isConflict } from "../persistent/conflict.js";

/** Another transaction was in the way: the same again may well work. */
const CONTENTION: ReadonlySet<string> = new Set(["40001", "40P01"]);
/** The server ended the connection: shut down, crashed, or told to. */
const ENDED: ReadonlySet<string> = new Set(["57P01", "57P02", "57P05", "25P03", "08000", "08003", "08006"]);
const SOCKET: ReadonlySet<string> = new Set(["ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE", "ETIMEDOUT"]);

/** By SQLSTATE, else by its first two characters. */
const WORDS: Readonly<Record<string, string>> = {
  "08": "the connection to the server was lost",
  "22021": "the database's encoding has no such character; it has to be UTF8",
  "22P05": "the database's encoding has no such character; it has to be UTF8",
  "25006": "the server or the role is read-only",
  "25P03": "the server ended the connection since the transaction paused for too long",
  "25P04": "the transaction took longer than transaction_timeout",
  "28": "the server refused the credentials",
  "3D000": "there is no such database",
  "3F000": "there is no such schema",
  "40": "other transactions were in the way each time that it was tried",
  "42501": "the role lacks a right; the grants that suffice are in docs/stores.md",
  "42703": "the tables are not those of createSchema",
  "42883": "the server lacks a function; PostgreSQL 13 or later is needed",
  "42P01": "its tables are not there: run createSchema",
  "42P10": "the tables are not those of createSchema",
  "53100": "the server's disk is full",
  "53200": "the server is out of memory",
  "53300": "the server takes no more connections",
  "55P03": "the wait for a lock took longer than lock_timeout",
  "57014": "the query was canceled, or took longer than statement_timeout",
  "57P": "the server is shutting down or starting",
};
const LOST = "the connection to the server was lost";
const NO_SERVER: Readonly<Record<string, string>> = {
  ECONNREFUSED: "no server listens there",
  ENOTFOUND: "the server's name is not known",
  EAI_AGAIN: "the server's name cannot be looked up at the moment",
  EHOSTUNREACH: "the server cannot be reached",
  ENETUNREACH: "the server cannot be reached",
};

/** The client's own words for what has no code. */
const TERMINATED = /connection (?:terminated|error)|not queryable|closed the connection/i;
const QUERY_TIMEOUT = /query read timeout/i;
const BY_TEXT: ReadonlyArray<readonly [RegExp, string]> = [
  [QUERY_TIMEOUT, "the query took longer than the client's query_timeout"],
  [/timeout exceeded when trying to connect/i, "the pool had no connection to give in time"],
  [/use a pool after calling end/i, "the pool was ended"],
  [/client password must be/i, "the client has no password to give"],
  [/does not support SSL/i, "the server does not support SSL"],
];

export function isContention(error: unknown): boolean {
  return CONTENTION.has(codeOf(error));
}

/** Whether the connection is lost: another one may well do. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return ENDED.has(code) || SOCKET.has(code) || (code === "" && TERMINATED.test(textOf(error)));
}

/**
 * Whether the connection is of no use to anybody: lost, with a query on it that its client gave up, or to a server that only reads by
 * now, such as one that was the primary before a failover.
 */
export function isUnusable(error: unknown): boolean {
  return isLost(error) || codeOf(error) === "25006" || QUERY_TIMEOUT.test(textOf(error));
}

/** Passes on what has its own words: a conflict, an error of ours, whatever came of an abort. */
export function told(
  code: "FS_LOAD_FAILED" | "FS_COMMIT_FAILED" | "FS_IO_ERROR",
  what: string,
  error: unknown,
  path?: string,
): unknown {
  if (error instanceof HarnessFileError || isConflict(error)) return error;
  return new HarnessFileError(code, `${what}: ${why(error)} (${nameOf(error)})`, { path, cause: error });
}

/** The server's own text may hold names and hosts, and is left to `cause`. */
function why(error: unknown): string {
  const code = codeOf(error);
  const text = textOf(error);
  const known = WORDS[code] ?? WORDS[code.slice(0, 3)] ?? WORDS[code.slice(0, 2)] ?? NO_SERVER[code];
  if (known !== undefined) return known;
  if (isLost(error)) return LOST;
  return BY_TEXT.find(([words]) => words.test(text))?.[1] ?? "the server or the client failed";
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "";
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
