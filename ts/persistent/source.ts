// Where a dir comes from, for one `extraBody`.
import { isAbsolute } from "node:path";
import { ignore } from "../cancellation.js";
import { HarnessFileError, describe } from "../errors.js";
import type { NativeLocalSource, NativeSource } from "../native.js";
import type { Call, Dir, DirSession } from "./dir.js";
import type { SourceDir } from "./dirs.js";
import { Thrown } from "./failure.js";

const MAX_LENGTH = 32_768;

/** undefined when it depends on `extraBody`. */
export function fixedSource(sourceDir: SourceDir): NativeLocalSource | undefined {
  if (typeof sourceDir === "function") return undefined;
  if (typeof sourceDir === "object") return { below: "project", path: sourceDir.path };
  return { below: isAbsolute(sourceDir) ? "absolute" : "data", path: sourceDir };
}

/** `exclusive`: to commit; loads share a source. */
export async function sourceOf(
  session: DirSession,
  { index, behind }: Dir,
  { extraBody }: Call,
  exclusive: boolean,
): Promise<NativeSource> {
  try {
    if ("store" in behind) {
      return { exclusive, scope: await behind.store.scope({ ...given(extraBody), sessionId: session.native.id }) };
    }
    const others = session.dirs.filter((other) => other.index !== index).map((other) => otherSource(other, extraBody));
    return {
      exclusive,
      local: localSource(behind.sourceDir, extraBody),
      others: others.filter((other) => other !== undefined),
    };
  } catch (error) {
    throw new Thrown(error);
  }
}

/** One whose function throws fails by itself, and overlaps with nothing. */
function otherSource({ behind }: Dir, extraBody: unknown): NativeLocalSource | undefined {
  if ("store" in behind) return undefined;
  try {
    return localSource(behind.sourceDir, extraBody);
  } catch {
    return undefined;
  }
}

function localSource(sourceDir: SourceDir, extraBody: unknown): NativeLocalSource {
  const fixed = fixedSource(sourceDir);
  if (fixed !== undefined || typeof sourceDir !== "function") return fixed as NativeLocalSource;
  const path = sourceDir(given(extraBody));
  if (path instanceof Promise) path.catch(ignore); // refused, and nobody else waits for it
  const valid = typeof path === "string" && path !== "" && path.length <= MAX_LENGTH && path.isWellFormed();
  if (!valid || path.includes("\0")) {
    const message = `sourceDir must give a path, not ${describe(path)}`;
    throw new HarnessFileError("FS_INVALID_OPTION", message, { details: { option: "sourceDir" } });
  }
  return { below: isAbsolute(path) ? "absolute" : "data", path };
}

function given(extraBody: unknown): { extraBody?: unknown } {
  return extraBody === undefined ? {} : { extraBody };
}
