// JSON.parse for long texts, in slices: a stack of what is open, and one token after the other.
import { Pace } from "../pace.js";

/** As much as JSON.parse takes a millisecond or two for. */
const MAX_AT_ONCE = 256 * 1024;

const SCALAR = /[^,\]}\s]+/y;
const SPACE = /\s*/y;

interface Open {
  readonly into: unknown[] | Record<string, unknown>;
  /** Of the member that comes next; undefined in an array, and before a key. */
  key: string | undefined;
}

/** Of a text that JSON.stringify, or something like it, wrote. */
export async function parsed(text: string): Promise<unknown> {
  if (text.length <= MAX_AT_ONCE) return JSON.parse(text) as unknown;
  const pace = new Pace();
  const open: Open[] = [];
  for (let at = after(SPACE, text, 0); ; at = after(SPACE, text, at)) {
    const top = open.at(-1);
    let value: unknown;
    switch (text[at]) {
      case ",":
      case ":":
        at++;
        continue;
      case "[":
      case "{":
        open.push({ into: text[at++] === "[" ? [] : {}, key: undefined });
        continue;
      case "]":
      case "}":
        value = open.pop()?.into;
        at++;
        break;
      default: {
        const end = text[at] === '"' ? endOfString(text, at) : after(SCALAR, text, at);
        value = JSON.parse(text.slice(at, end)) as unknown;
        at = end;
        if (top !== undefined && !Array.isArray(top.into) && top.key === undefined) {
          top.key = value as string;
          continue;
        }
      }
    }
    const holder = open.at(-1);
    if (holder === undefined) return value;
    put(holder, value);
    if (pace.due()) await pace.turn();
  }
}

/** `__proto__` is only a name. */
function put(holder: Open, value: unknown): void {
  const { into, key } = holder;
  if (Array.isArray(into)) into.push(value);
  else if (key === "__proto__") {
    Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
  } else into[key as string] = value;
  holder.key = undefined;
}

function after(token: RegExp, text: string, at: number): number {
  token.lastIndex = at;
  token.test(text);
  return Math.max(token.lastIndex, at);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
}
