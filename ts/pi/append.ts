// Appends as one whole write: a reader sees the file before or after, and of two who append none is lost.
import type { FileWriter } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { missing } from "../file-system/codes.js";

/** Each time somebody else got ahead. */
const ATTEMPTS = 50;

type Signal = { signal?: AbortSignal };

export async function append(
  files: FileWriter,
  path: string,
  content: string | Uint8Array,
  signal: Signal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await appendOnce(files, path, content, signal);
    } catch (error) {
      const overtaken = error instanceof HarnessFileError && /^FS_(STALE_VERSION|ALREADY_EXISTS)$/.test(error.code);
      if (!overtaken || attempt === ATTEMPTS) throw error;
      await checkLink(files, path);
    }
  }
}

async function appendOnce(
  files: FileWriter,
  path: string,
  content: string | Uint8Array,
  signal: Signal,
): Promise<void> {
  const sha256 = await digest(files, path, signal);
  if (sha256 === undefined) await files.write(path, content, { ifNoneMatch: "*", ...signal });
  else await files.write(path, both(await files.readStream(path, signal), content), { ifMatch: sha256, ...signal });
}

/** Of the whole file; nothing of it is loaded. */
async function digest(files: FileWriter, path: string, signal: Signal): Promise<string | undefined> {
  try {
    return (await files.read(path, { range: { start: 0, end: 0 }, ...signal })).sha256;
  } catch (error) {
    if (error instanceof HarnessFileError && error.code === "FS_NOT_FOUND") return undefined;
    throw error;
  }
}

async function* both(
  before: ReadableStream<Uint8Array>,
  content: string | Uint8Array,
): AsyncGenerator<Uint8Array | string> {
  yield* before;
  yield content;
}

/** A link that leads nowhere is neither read nor written through, however often one tries. */
async function checkLink(files: FileWriter, path: string): Promise<void> {
  const found = await missing(files.stat(path));
  if (found?.kind !== "symlink") return;
  const text = `${path} is a symbolic link; it is not written through`;
  throw new HarnessFileError("FS_SANDBOX_DENIED", text, { path, reason: "symlink" });
}
