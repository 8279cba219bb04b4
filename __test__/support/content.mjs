// Contents for tests: bytes that name their version in every block, and sources in every kind.

/** `bytes` of content in which each 8 bytes hold the same tag, so that a mix of two versions shows. */
export function tagged(tag, bytes) {
  const content = Buffer.alloc(bytes);
  content.fill(Buffer.from(String(tag).padEnd(8, ".").slice(0, 8)));
  return content;
}

/** The tag of a whole content; throws at the first block that differs. */
export function tagOf(content) {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const tag = buffer.subarray(0, 8);
  const whole = Buffer.alloc(buffer.length, tag);
  if (!whole.equals(buffer)) throw new Error("a mix of two contents");
  return tag.toString().replace(/\.+$/, "");
}

/** Pieces of at most `size` bytes as an async iterable. */
export async function* chunks(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
