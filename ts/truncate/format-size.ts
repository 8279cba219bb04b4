// Sizes as pi writes them.
import * as check from "../check.js";

const KB = 1024;

export function formatSize(bytes: number): string {
  if (typeof bytes !== "number") throw check.invalidOption("bytes", "a number", bytes);
  if (bytes < KB) return `${bytes}B`;
  if (bytes < KB * KB) return `${(bytes / KB).toFixed(1)}KB`;
  return `${(bytes / (KB * KB)).toFixed(1)}MB`;
}
