// The options of offloading, over those of the host, field by field.
import type { OffloadOptions } from "../../index.js";
import * as check from "../check.js";
import { plainPath } from "../plain-path.js";

const MIN_INLINE_BYTES = 1024;
/** More than any model takes, and safe in every integer type on the other side. */
const MAX_INLINE_BYTES = 2 ** 31 - 1;
const MAX_OUTPUT_DIR_BYTES = 200;

export interface OffloadSettings {
  readonly maxInlineBytes: number;
  readonly previewBytes: number;
  readonly outputDir: string;
  readonly onOffloadError: "fail" | "inline";
  readonly only?: OffloadOptions["only"];
  readonly turnBudgetBytes?: number;
}

export const DEFAULTS: OffloadSettings = {
  maxInlineBytes: 16_384,
  previewBytes: 512,
  outputDir: "/artifacts/tool-results",
  onOffloadError: "fail",
};

/** Reads `offload` out of the options that hold it. */
export function offloadOption(options: check.Options, base: OffloadSettings | false): OffloadSettings | false {
  const value = options["offload"];
  if (value === undefined) return base;
  if (value === false) return false;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw check.invalidOption("offload", "false or an object", value);
  }
  return offloadSettings(value, base === false ? DEFAULTS : base);
}

export function offloadSettings(options: unknown, base: OffloadSettings): OffloadSettings {
  return check.readOptions(options, (given) => {
    const only = given["only"] ?? base.only;
    if (only !== undefined && typeof only !== "function") throw check.invalidOption("only", "a function", only);
    const turnBudgetBytes = check.count(given, "turnBudgetBytes") ?? base.turnBudgetBytes;
    return {
      maxInlineBytes: maxInlineBytes(given) ?? base.maxInlineBytes,
      previewBytes: Math.min(check.count(given, "previewBytes") ?? base.previewBytes, MAX_INLINE_BYTES),
      outputDir: outputDir(given) ?? base.outputDir,
      onOffloadError: check.oneOf(given, "onOffloadError", ["fail", "inline"]) ?? base.onOffloadError,
      ...(only !== undefined && { only: only as NonNullable<OffloadOptions["only"]> }),
      ...(turnBudgetBytes !== undefined && { turnBudgetBytes }),
    };
  });
}

function maxInlineBytes(options: check.Options): number | undefined {
  const value = check.count(options, "maxInlineBytes");
  if (value === undefined) return undefined;
  if (value < MIN_INLINE_BYTES) throw check.invalidOption("maxInlineBytes", "an integer of 1,024 or more", value);
  return Math.min(value, MAX_INLINE_BYTES);
}

/** Held to the grammar here already, so that a mistake shows at once and not at the first large result. */
function outputDir(options: check.Options): string | undefined {
  const value = check.label(options, "outputDir", MAX_OUTPUT_DIR_BYTES);
  if (value === undefined) return undefined;
  const path = plainPath(value, ["artifacts", "session"]);
  if (path !== undefined && Buffer.byteLength(value) <= MAX_OUTPUT_DIR_BYTES) return path;
  throw check.invalidOption("outputDir", "a path below /artifacts or /session of at most 200 bytes, without ..", value);
}
