// The options of `localHost`.
import { resolve } from "node:path";
import * as check from "./check.js";
import { HarnessFileError } from "./errors.js";
import type { HarnessTraceEvent } from "../index.js";
import type { NativeHostOptions } from "./native.js";
import { DEFAULTS, offloadOption } from "./tools/offload-options.js";
import type { TurnSettings } from "./turn/turns.js";

const DEFAULT_DATA_DIR = ".little-harness";

export interface HostOptions {
  native: NativeHostOptions;
  onEvent: ((event: HarnessTraceEvent) => unknown) | undefined;
  turns: TurnSettings;
}

export function hostOptions(options: unknown): HostOptions {
  return check.readOptions(options, (given) => {
    const onEvent = given["onEvent"];
    if (onEvent !== undefined && typeof onEvent !== "function")
      throw check.invalidOption("onEvent", "a function", onEvent);
    const redaction = group(given, "redaction", "an object { paths?, keys? }");
    const native: NativeHostOptions = {
      dataDir: dataDir(given),
      durability: check.oneOf(given, "durability", ["turn", "write", "none"]) ?? "turn",
      ...quota(given),
      ...trace(given),
      redactedPaths: strings(redaction, "redaction.paths", "paths"),
      redactedKeys: strings(redaction, "redaction.keys", "keys"),
      // Tests run the whole suite on the resolver that stands in for openat2.
      ...(process.env["LITTLE_FILES_RESOLVER"] === "walk" && { resolver: "walk" }),
    };
    const turns: TurnSettings = {
      concurrent: check.oneOf(given, "concurrentTurns", ["queue", "reject"]) ?? "queue",
      offload: offloadOption(given, DEFAULTS),
      flushes: native.durability !== "none",
    };
    return { native, onEvent: onEvent as HostOptions["onEvent"], turns };
  });
}

/** Absolute, so that a later chdir changes nothing. */
function dataDir(options: check.Options): string {
  const value = check.text(options, "dataDir", 32_768) ?? DEFAULT_DATA_DIR;
  if (value.includes("\0")) throw new HarnessFileError("FS_INVALID_OPTION", "dataDir must not hold a NUL character");
  return resolve(value);
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

function strings(options: check.Options, shown: string, name: string): string[] {
  const value = options[name];
  if (value === undefined) return [];
  const valid =
    Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "" && each.isWellFormed());
  if (!valid) throw check.invalidOption(shown, "an array of strings that are not empty", value);
  return [...(value as string[])];
}
