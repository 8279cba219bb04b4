// The options of `fileTools`, with their defaults.
import { resolve } from "node:path";
import type { FileToolName, ObservationPolicy } from "../../tools.js";
import * as check from "../check.js";
import { checkPath } from "../file-options.js";
import { readBeforeWrite } from "../file-system/read-before-write.js";

export interface Limits {
  readonly lines: number;
  readonly lineCharacters: number;
  readonly bytes: number;
  readonly entries: number;
  readonly matches: number;
}

export type Names = Readonly<Record<FileToolName, string>>;
export type PlanDir = { readonly managed: string } | { readonly host: string };

export interface Settings {
  readonly observation: ObservationPolicy | false;
  readonly limits: Limits;
  readonly names: Names;
  readonly planDir: PlanDir;
}

const LIMITS: Limits = { lines: 2000, lineCharacters: 2000, bytes: 51_200, entries: 1000, matches: 200 };
const MIN_BYTES = 1024;
const MAX_BYTES = 1024 * 1024;
const MAX_COUNT = 100_000;

const NAMES: Names = {
  read: "read",
  query: "query",
  write: "write",
  edit: "edit",
  list: "list",
  glob: "glob",
  grep: "grep",
  remove: "remove",
  todo_write: "todo_write",
};

/** What providers take for a tool's name. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function settingsOf(options: unknown): Settings {
  return check.readOptions(options, (given) => ({
    observation: observationOf(given["observation"]),
    limits: check.readOptions(given["limits"], limitsOf, "limits"),
    names: check.readOptions(given["names"], namesOf, "names"),
    planDir: check.readOptions(given["plan"], planDirOf, "plan"),
  }));
}

function observationOf(value: unknown): ObservationPolicy | false {
  if (value === undefined) return readBeforeWrite();
  if (value === false) return false;
  if (typeof value === "object" && value !== null) {
    const { writeIntent, editIntent, observed } = value as Partial<ObservationPolicy>;
    if ([writeIntent, editIntent, observed].every((method) => typeof method === "function"))
      return value as ObservationPolicy;
  }
  throw check.invalidOption("observation", "false or an object { writeIntent, editIntent, observed }", value);
}

function limitsOf(given: check.Options): Limits {
  const limits: Record<string, number> = { ...LIMITS };
  for (const name of Object.keys(LIMITS) as (keyof Limits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    const [least, most] = name === "bytes" ? [MIN_BYTES, MAX_BYTES] : [1, MAX_COUNT];
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
      throw check.invalidOption(`limits.${name}`, `an integer of ${least} to ${most}`, value);
    }
    limits[name] = value as number;
  }
  return limits as unknown as Limits;
}

function namesOf(given: check.Options): Names {
  const known = Object.keys(NAMES);
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw check.invalidOption(`names.${stranger}`, "absent: there is no such tool", given[stranger]);
  const names: Record<string, string> = { ...NAMES };
  for (const tool of known) {
    const name = given[tool];
    if (name === undefined) continue;
    if (typeof name !== "string" || !TOOL_NAME.test(name)) {
      throw check.invalidOption(`names.${tool}`, "1 to 64 letters, digits, _ or -", name);
    }
    names[tool] = name;
  }
  if (new Set(Object.values(names)).size < known.length) {
    throw check.invalidOption("names", "different for each tool", given);
  }
  return names as unknown as Names;
}

function planDirOf(given: check.Options): PlanDir {
  const dir = given["dir"];
  if (dir === undefined) return { managed: "/session/plans" };
  if (typeof dir === "string" && dir.startsWith("/")) return { managed: checkPath(dir).replace(/\/+$/, "") };
  const host = typeof dir === "object" && dir !== null ? (dir as { host?: unknown }).host : undefined;
  if (typeof host === "string" && host !== "" && !host.includes("\0")) return { host: resolve(host) };
  throw check.invalidOption("plan.dir", "a path inside a managed root, or { host: folder }", dir);
}
