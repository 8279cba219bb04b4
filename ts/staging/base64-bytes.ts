// The bytes that a base64 text stands for, decoded slice by slice: as forgiving as `fetch` is of a `data:` URL (white space,
// escapes, no padding), and of the alphabet for URLs as well. Anything else is malformed, never skipped.
import type { HarnessFileError } from "../errors.js";
import { malformed } from "../source/failure.js";

/** A multiple of four. */
const SLICE = 64 * 1024;
const NOT_PLAIN = ["%", " ", "\n", "\r", "\t", "\f", "="] as const;

/** Iterates anew each time. */
export class Base64Bytes implements Iterable<Uint8Array> {
  readonly #text: string;
  readonly #start: number;

  /** `start`: where in the text it begins. */
  constructor(text: string, start = 0) {
    this.#text = text;
    this.#start = start;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    /** Digits before the next whole quantum of four. */
    let rest = "";
    /** An escape that the next slice may end. */
    let open = "";
    let padding = 0;
    for (let at = this.#start; at < this.#text.length; at += SLICE) {
      const slice = open + this.#text.slice(at, at + SLICE);
      const whole = rest === "" && padding === 0 ? decoded(slice) : undefined;
      if (whole !== undefined) {
        open = "";
        yield whole;
        continue;
      }
      let clean: string;
      ({ clean, open } = cleaned(slice));
      const digits = withoutPadding(clean);
      if (padding > 0 && digits !== "") throw notBase64();
      padding += clean.length - digits.length;
      const text = rest + digits;
      const cut = text.length - (text.length % 4);
      rest = text.slice(cut);
      if (cut > 0) yield decoded(text.slice(0, cut)) ?? refuse();
    }
    const endsWell =
      open === "" && rest.length !== 1 && (padding === 0 || (padding <= 2 && rest.length + padding === 4));
    if (!endsWell) throw notBase64();
    if (rest !== "") yield decoded(rest.padEnd(4, "A"))?.subarray(0, rest.length - 1) ?? refuse();
  }

  /** Some bytes at its beginning; all of them when it is short. */
  first(): Uint8Array {
    for (const bytes of this) return bytes;
    return new Uint8Array();
  }

  /** How many bytes it is, where that shows without decoding: for all that FileReader and Buffer make. */
  *measure(): Generator<void, number | undefined> {
    const text = this.#text;
    const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
    const length = text.length - padding - this.#start;
    if (length < 0 || length % 4 === 1) return undefined;
    for (let at = this.#start; at < this.#start + length; at += SLICE) {
      if (!isPlain(text.slice(at, Math.min(at + SLICE, this.#start + length)))) return undefined;
      yield;
    }
    return Math.floor((length * 3) / 4);
  }
}

/** Faster than a regular expression. */
function isPlain(text: string): boolean {
  return !NOT_PLAIN.some((character) => text.includes(character));
}

/** Without escapes and white space; `open` is an escape that the next slice may end. */
function cleaned(text: string): { clean: string; open: string } {
  const line = text.replace(/[\t\n\r]+/g, "");
  const open = /%[0-9a-f]?$/i.exec(line)?.[0] ?? "";
  const clean = line
    .slice(0, line.length - open.length)
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/[\t\n\f\r ]+/g, "");
  return { clean, open };
}

function withoutPadding(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "=") end--;
  return text.slice(0, end);
}

/** undefined when a character of it is none of base64: the decoder skips those, and gives fewer bytes. */
function decoded(quanta: string): Uint8Array | undefined {
  if (quanta.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(quanta, "base64");
  return bytes.length === (quanta.length / 4) * 3 ? bytes : undefined;
}

function refuse(): never {
  throw notBase64();
}

function notBase64(): HarnessFileError {
  return malformed("The file's content is not base64");
}
