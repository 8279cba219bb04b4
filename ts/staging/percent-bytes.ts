// The bytes that the text of a `data:` URL stands for when it is not base64: UTF-8 with escapes, decoded slice by slice.
import { malformed } from "../source/failure.js";
import { sliceEnd } from "../source/text-feed.js";

const SLICE = 16 * 1024;
const PERCENT = 0x25;

/** Iterates anew each time. */
export class PercentBytes implements Iterable<Uint8Array> {
  readonly #text: string;
  readonly #start: number;

  /** `start`: where in the URL it begins. */
  constructor(url: string, start: number) {
    this.#text = url;
    this.#start = start;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    const { length } = this.#text;
    /** An escape that the next slice may end. */
    let open = "";
    for (let at = this.#start; at < length;) {
      const end = sliceEnd(this.#text, at + SLICE);
      // As a URL's parser does it: no tabs and line ends, no white space at the end.
      const slice = open + this.#text.slice(at, end).replace(/[\t\n\r]+/g, "");
      open = end < length ? (/%[0-9a-f]?$/i.exec(slice)?.[0] ?? "") : "";
      yield unescaped(end < length ? slice.slice(0, slice.length - open.length) : withoutBlankEnd(slice));
      at = end;
    }
  }
}

function withoutBlankEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(0, end);
}

/** What only looks like an escape stands for itself. */
function unescaped(slice: string): Uint8Array {
  if (slice.includes("#")) {
    const message = "The data: URL has a fragment, which is no part of its content: write # as %23";
    throw malformed(message);
  }
  const bytes = Buffer.from(slice);
  let to = bytes.indexOf(PERCENT);
  if (to < 0) return bytes;
  for (let from = to; from < bytes.length; from++) {
    const high = bytes[from] === PERCENT ? digit(bytes[from + 1]) : -1;
    const low = high < 0 ? -1 : digit(bytes[from + 2]);
    if (low >= 0) from += 2;
    bytes[to++] = low < 0 ? (bytes[from] as number) : (high << 4) | low;
  }
  return bytes.subarray(0, to);
}

/** -1 for what is no hex digit. */
function digit(unit: number | undefined): number {
  if (unit === undefined) return -1;
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
