// Who is compared, and how each writes a whole content: what a careful user of it would do to get the same result, a file
// that appears whole and its sha256. None of them waits for the disk here; `durable` in small.mjs is where all of them do.
import { createHash, randomUUID } from "node:crypto";
import { open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { localHost } from "@little-stack/files";
import writeFileAtomic from "write-file-atomic";

export const ours = "@little-stack/files";
export const node = "node:fs + node:crypto";
export const wfa = "write-file-atomic + node:crypto";

/** Gives a session in `folder` to `work`, and closes the host afterwards. */
export async function withSession(folder, options, work) {
  const host = localHost({ dataDir: folder, ...options });
  try {
    return await work(await host.sessions.getOrCreate({ id: "bench" }));
  } finally {
    await host.close();
  }
}

export function withFiles(folder, options, work) {
  return withSession(folder, options, (session) => work(session.files));
}

export function sha256(data) {
  return createHash("sha256").update(data).digest("hex");
}

export const temporary = (file) => `${file}.${randomUUID()}.tmp`;

export async function nodeWrite(file, data, { durable = false } = {}) {
  const temp = temporary(file);
  await writeFile(temp, data, { flush: durable });
  await rename(temp, file);
  if (durable) await flushFolder(dirname(file));
  return { bytes: Buffer.byteLength(data), sha256: sha256(data) };
}

/** It flushes the file by default, but never the folder, so that is added where the disk counts. */
export async function wfaWrite(file, data, { durable = false } = {}) {
  await writeFileAtomic(file, data, { fsync: durable });
  if (durable) await flushFolder(dirname(file));
  return { bytes: Buffer.byteLength(data), sha256: sha256(data) };
}

async function flushFolder(folder) {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
