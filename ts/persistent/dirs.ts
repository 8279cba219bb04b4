// The declarations: `localDir`, `projectDir`, `customDir`, and what stores of other entry points use. Light: it is part of the
// entry ".".
import type { CommitMode, CustomDir, CustomDirOptions, LocalDir, ProjectDir, StoreDir } from "../../index.js";
import * as check from "../check.js";
import { HarnessFileError, describe } from "../errors.js";
import type { Store } from "./store.js";

export type SourceDir = string | ProjectDir | ((ctx: { extraBody?: unknown }) => unknown);

/** The callbacks of a `customDir`, bound to the object they came on; which of them there are was checked. */
export type Callbacks = { readonly scope?: Callback } & (
  | { readonly load: Callback; readonly store?: Callback }
  | { readonly list: Callback; readonly read: Callback; readonly write?: Callback; readonly delete?: Callback }
);
export type Callback = (ctx: unknown) => unknown;

/** What a dir that was handed out stands for. */
export interface Declaration {
  readonly harnessDir: string;
  readonly commit: CommitMode;
  readonly behind: { readonly sourceDir: SourceDir } | { readonly callbacks: Callbacks } | { readonly store: Store };
}

/** Registered: a bundler may well make two copies of this module, one for each entry point. */
const DECLARATION = Symbol.for("@little-stack/files.persistentDir");

const MAX_LENGTH = 32_768;
const MODES: readonly CommitMode[] = ["after-turn", "manual", "read-only"];
const MAP_SHAPE = ["load", "store"] as const;
const FILES_SHAPE = ["list", "read", "write", "delete"] as const;

export function localDir<T = unknown>(dir: Parameters<typeof import("../../index.js").localDir<T>>[0]): LocalDir<T> {
  return check.readOptions(dir, (given) => declare(given, { sourceDir: sourceDir(given) }));
}

export function projectDir(path: string): ProjectDir {
  return Object.freeze({ path: required({ path }, "path") });
}

export function customDir<T = unknown>(dir: CustomDirOptions<T>): CustomDir<T> {
  return check.readOptions(dir, (given) => declare(given, { callbacks: callbacks(given) }));
}

/** For the stores of other entry points, which read their own options from the same object. */
export function storeDir<T>(given: check.Options, store: Store): StoreDir<T> {
  return declare(given, { store });
}

/** undefined for what none of these functions made. */
export function declarationOf(dir: unknown): Declaration | undefined {
  if (typeof dir !== "object" || dir === null) return undefined;
  return (dir as { [DECLARATION]?: Declaration })[DECLARATION];
}

function declare(given: check.Options, behind: Declaration["behind"]): { readonly harnessDir: string } {
  const harnessDir = required(given, "harnessDir");
  const declaration: Declaration = { harnessDir, commit: mode(given), behind };
  return Object.freeze(Object.defineProperty({ harnessDir }, DECLARATION, { value: declaration }));
}

function mode(given: check.Options): CommitMode {
  return check.oneOf(given, "commit", MODES) ?? "after-turn";
}

function required(given: check.Options, name: string): string {
  const value = check.text(given, name, MAX_LENGTH);
  if (value === undefined) throw check.invalidOption(name, "a string that is not empty", value);
  if (value.includes("\0")) throw invalid(name, `${name} must not hold a NUL character`);
  return value;
}

function sourceDir(given: check.Options): SourceDir {
  const value = given["sourceDir"];
  if (typeof value === "string") return required(given, "sourceDir");
  if (typeof value === "function") return value as SourceDir;
  if (typeof value === "object" && value !== null && typeof (value as Partial<ProjectDir>).path === "string")
    return projectDir((value as ProjectDir).path);
  throw check.invalidOption("sourceDir", "a path, projectDir(…) or a function that gives a path", value);
}

function callbacks(given: check.Options): Callbacks {
  const found: Partial<Record<"scope" | (typeof MAP_SHAPE)[number] | (typeof FILES_SHAPE)[number], Callback>> = {};
  for (const name of ["scope", ...MAP_SHAPE, ...FILES_SHAPE] as const) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== "function") throw check.invalidOption(name, "a function", value);
    found[name] = (value as Callback).bind(given);
  }
  const { load, list, read, write } = found;
  const maps = MAP_SHAPE.filter((name) => found[name] !== undefined);
  const files = FILES_SHAPE.filter((name) => found[name] !== undefined);
  if (maps.length > 0 && files.length > 0) {
    const message = `customDir takes load and store, or list, read, write and delete: not ${[...maps, ...files].join(", ")}`;
    throw invalid(files[0] ?? "list", message);
  }
  const writable = mode(given) !== "read-only";
  if (load !== undefined) {
    if (writable && found.store === undefined) throw missing("store");
  } else if (list === undefined || read === undefined) {
    throw missing(files.length === 0 ? "load" : list === undefined ? "list" : "read", true);
  } else if (writable && (write === undefined || found.delete === undefined)) {
    throw missing(write === undefined ? "write" : "delete");
  }
  return found as Callbacks;
}

function missing(name: string, always = false): HarnessFileError {
  const instead = always ? "" : ', or the dir must be declared with commit: "read-only"';
  return invalid(name, `${name} must be a function${instead}, not ${describe(undefined)}`);
}

function invalid(option: string, message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_OPTION", message, { details: { option } });
}
