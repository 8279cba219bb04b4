// Cuts that never leave half a character.

const encoder = new TextEncoder();

/** The longest beginning of at most `bytes` bytes of UTF-8, well-formed. */
export function cutText(text: string, bytes: number): string {
  const head = text.slice(0, bytes);
  if (Buffer.byteLength(head) <= bytes) return wellFormed(head);
  const { read } = encoder.encodeInto(head, new Uint8Array(bytes));
  return wellFormed(head.slice(0, read));
}

/** A half pair at the end was cut through and goes; others were there before. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "").toWellFormed();
}
