// Small files share queries. No query carries more than a chunk's worth of content, unless one file alone does.
import { CHUNK_BYTES } from "./tables.js";

const FILES_AT_ONCE = 256;

export function batchesOf<T extends { readonly bytes?: number }>(files: readonly T[]): T[][] {
  const batches: T[][] = [];
  let room = 0;
  for (const file of files) {
    const { bytes = 0 } = file;
    const last = batches.at(-1);
    if (last === undefined || last.length === FILES_AT_ONCE || bytes > room) {
      batches.push([file]);
      room = CHUNK_BYTES;
    } else {
      last.push(file);
    }
    room -= bytes;
  }
  return batches;
}
