// Digests by node:crypto: independent of the library.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

export function digestOfFile(file) {
  return digestOfStream(createReadStream(file));
}

export async function digestOfStream(stream) {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

export function digestOfText(text) {
  return { bytes: Buffer.byteLength(text), sha256: createHash("sha256").update(text).digest("hex") };
}
