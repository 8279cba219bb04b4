// The options of `localHost`.
import { resolve } from "node:path";
import * as check from "./check.js";
import { HarnessFileError } from "./errors.js";
import type { HarnessTraceEvent, LocalHostOptions } from "../index.js";
import type { NativeHostOptions } from "./native.js";
import type { Dir } from "./persistent/dir.js";
import { hostDirs, nativeDir } from "./persistent/host-dirs.js";
import { plainPath } from "./plain-path.js";
import { DEFAULTS, offloadOption } from "./tools/offload-options.js";
import type { TurnSettings } from "./turn/turns.js";

const DEFAULT_DATA_DIR = ".little-harness";

export interface HostOptions {
  native: NativeHostOptions;
  onEvent: ((event: HarnessTraceEvent) => unknown) | undefined;
  onPersistenceError: LocalHostOptions["onPersistenceError"];
  turns: TurnSettings;
  dirs: readonly Dir[];
}

export function hostOptions(options: unknown): HostOptions {
  return check.readOptions(options, (given) => {
    const onEvent = callback(given, "onEvent") as HostOptions["onEvent"];
    const onPersistenceError = callback(given, "onPersistenceError") as HostOptions["onPersistenceError"];
    const dirs = hostDirs(given);
    const redaction = group(given, "redaction", "an object { paths?, keys? }");
    const native: NativeHostOptions = {
      dataDir: folder(given, "dataDir") ?? resolve(DEFAULT_DATA_DIR),
      ...projectRoot(given, dirs),
      persistentDirs: dirs.map(nativeDir),
      durability: check.oneOf(given, "durability", ["turn", "write", "none"]) ?? "turn",
      ...quota(given),
      ...trace(given),
      redactedPaths: strings(redaction, "redaction.paths", "paths").flatMap(hiddenPath),
      redactedKeys: strings(redaction, "redaction.keys", "keys"),
      // Tests run the whole suite on the resolver that stands in for openat2.
      ...(process.env["LITTLE_FILES_RESOLVER"] === "walk" && { resolver: "walk" }),
    };
    const turns: TurnSettings = {
      concurrent: check.oneOf(given, "concurrentTurns", ["queue", "reject"]) ?? "queue",
      offload: offloadOption(given, DEFAULTS),
      flushes: native.durability !== "none",
    };
    return { native, onEvent, onPersistenceError, turns, dirs };
  });
}

function callback(options: check.Options, name: string): unknown {
  const value = options[name];
  if (value === undefined || typeof value === "function") return value;
  throw check.invalidOption(name, "a function", value);
}

/** Absolute, so that a later chdir changes nothing. */
function folder(options: check.Options, name: string): string | undefined {
  const value = check.text(options, name, 32_768);
  if (value === undefined) return undefined;
  if (value.includes("\0")) throw new HarnessFileError("FS_INVALID_OPTION", `${name} must not hold a NUL character`);
  return resolve(value);
}

/** The working folder is asked for only when it counts: it may be gone. */
function projectRoot(options: check.Options, dirs: readonly Dir[]): Pick<NativeHostOptions, "projectRoot"> {
  const given = folder(options, "projectRoot");
  const isNeeded = dirs.some(({ behind }) => "sourceDir" in behind && typeof behind.sourceDir === "object");
  if (given === undefined && !isNeeded) return {};
  return { projectRoot: given ?? resolve() };
}

function quota(options: check.Options): Pick<NativeHostOptions, "sessionBytes" | "fileBytes" | "sessionFiles"> {
  const given = group(options, "quota", "an object { sessionBytes?, fileBytes?, sessionFiles? }");
  const limits: Pick<NativeHostOptions, "sessionBytes" | "fileBytes" | "sessionFiles"> = {};
  for (const name of ["sessionBytes", "fileBytes", "sessionFiles"] as const) {
    const value = check.count(given, name);
    if (value !== undefined) limits[name] = value;
  }
  return limits;
}

function trace(options: check.Options): Pick<NativeHostOptions, "trace" | "diff"> {
  if (options["trace"] === false) return { trace: false, diff: true }; // events still go to their listeners
  const given = group(options, "trace", "false or an object { diff? }");
  const diff = given["diff"] === undefined || check.flag(given, "diff");
  return { trace: true, diff };
}

function group(options: check.Options, name: string, accepted: string): check.Options {
  const value = options[name];
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw check.invalidOption(name, accepted, value);
  return value as check.Options;
}

/** One that is none would hide nothing, and nobody would notice. Names may be on the disk in either form of Unicode. */
function hiddenPath(path: string, index: number): string[] {
  const plain = plainPath(path);
  if (plain === undefined) {
    const accepted = "a path that starts with / and holds no .. or \\, like /session/secrets";
    throw check.invalidOption(`redaction.paths[${index}]`, accepted, path);
  }
  return [...new Set([plain, plain.normalize("NFC"), plain.normalize("NFD")])];
}

function strings(options: check.Options, shown: string, name: string): string[] {
  const value = options[name];
  if (value === undefined) return [];
  const valid =
    Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "" && each.isWellFormed());
  if (!valid) throw check.invalidOption(shown, "an array of strings that are not empty", value);
  return [...(value as string[])];
}
