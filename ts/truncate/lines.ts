// Lines as pi counts them: LF ends one, and an LF at the very end adds none. Walks the text; never splits it as a whole.

const LF = 10;

export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return text === "" || text.endsWith("\n") ? count : count + 1;
}

/** Where the text ends when its last line end is not counted. */
export function endOfLastLine(text: string): number {
  return text.charCodeAt(text.length - 1) === LF ? text.length - 1 : text.length;
}

/** Where the line that starts at `start` ends, before its LF. */
export function lineEnd(text: string, start: number): number {
  const at = text.indexOf("\n", start);
  return at < 0 ? text.length : at;
}

/** Where the line that ends at `end` starts. */
export function lineStart(text: string, end: number): number {
  // lastIndexOf takes a negative position for 0, where an LF may be.
  return end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
}
