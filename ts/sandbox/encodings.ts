// Text in the encoding that a caller names.
import * as check from "../check.js";

/** Those that both sides know: reading takes whatever the platform decodes. */
const WRITABLE: Readonly<Record<string, BufferEncoding>> = {
  "utf-8": "utf8",
  utf8: "utf8",
  "utf-16le": "utf16le",
  utf16le: "utf16le",
  latin1: "latin1",
  ascii: "ascii",
};

export function decoded(content: Uint8Array, encoding = "utf-8"): string {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding, { ignoreBOM: true });
  } catch {
    throw check.invalidOption("encoding", "one that TextDecoder knows", encoding);
  }
  return decoder.decode(content);
}

export function encoded(text: unknown, encoding: unknown = "utf-8"): string | Uint8Array {
  if (typeof text !== "string") throw check.invalidOption("content", "a string", text);
  const known = typeof encoding === "string" ? WRITABLE[encoding.toLowerCase()] : undefined;
  if (known === undefined)
    throw check.invalidOption("encoding", `one of ${Object.keys(WRITABLE).join(", ")}`, encoding);
  return known === "utf8" ? text : Buffer.from(text, known);
}
