// A glob that begins with the folder where it is to look.

const IN_ROOT = /^\/(?:session|artifacts|persistent)\//;
/** Folders that are named without a wildcard. */
const FIXED = /^(?:\/[^/*?[\]{}\\]+)*(?=\/)/;

export interface Placed {
  readonly folder: string | undefined;
  readonly pattern: string;
}

/** The folder, and the pattern below it; undefined: the pattern is of somewhere else than the folder that was given. */
export function placed(pattern: string, folder: string | undefined): Placed | undefined {
  if (!pattern.startsWith("/")) return { folder, pattern: pattern.replace(/^(?:\.\/)+(?=.)/, "") };
  if (folder !== undefined) {
    const start = `${folder.replace(/\/+$/, "")}/`;
    return pattern.startsWith(start) ? { folder, pattern: pattern.slice(start.length) } : undefined;
  }
  if (/^\/\*\*(?:\/|$)/.test(pattern)) return { folder, pattern: pattern.slice(1) };
  const fixed = FIXED.exec(pattern)?.[0] ?? "";
  return { folder: fixed === "" ? "/" : fixed, pattern: pattern.slice(fixed.length + 1) };
}

export function isInRoot(pattern: string): boolean {
  return IN_ROOT.test(pattern);
}
