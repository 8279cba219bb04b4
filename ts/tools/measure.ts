// How many bytes a value takes as compact JSON, found without writing it, up to a limit.
import { isUnsettled, lengthOf, rawText, settle } from "../json/settle.js";
import { isBytes, isFileData, isFormless, isPlain } from "./kinds.js";

/** More than the limit, or deeper than a consumer may be trusted with. */
export const OVER = -1;
/** Holds something that JSON has no form for: its size depends on the form that is chosen. */
export const NOT_JSON = -2;

/** Deeper values count as over any limit: consumers walk them by recursion. */
export const MAX_DEPTH = 200;

/** Text that JSON writes as it is. */
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const STOP = new Error("stop");

/** The size as JSON.stringify would make it; OVER; or NOT_JSON. */
export function measure(value: unknown, limit: number): number {
  const meter = new Meter(limit);
  try {
    meter.add(settled(value, ""));
    return limit - meter.left;
  } catch {
    return meter.left < 0 ? OVER : NOT_JSON; // also for a getter or `toJSON` that throws
  }
}

/** What JSON.stringify writes for a value. */
function settled(value: unknown, key: string | number): unknown {
  if (!isUnsettled(value)) return value;
  if (typeof value === "object") {
    if (isPlain(value) && typeof (value as { toJSON?: unknown }).toJSON !== "function") return value;
    if (isBytes(value)) throw STOP; // not by their `toJSON`
  }
  const given = settle(value, key);
  if (typeof given === "object" && given !== null && (isBytes(given) || isFileData(given) || isFormless(given))) throw STOP;
  return given;
}

class Meter {
  left: number;
  readonly #open: object[] = [];

  constructor(limit: number) {
    this.left = limit;
  }

  #take(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) throw STOP;
  }

  /** A settled value; where undefined cannot be left out it becomes null. */
  add(value: unknown): void {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#take(Number.isFinite(value) ? String(value).length : 4);
      case "boolean":
        return this.#take(value ? 4 : 5);
      case "undefined":
        return this.#take(4);
      case "object":
        return value === null ? this.#take(4) : this.#container(value);
      default:
        throw STOP; // BigInts, functions, symbols
    }
  }

  #text(value: string): void {
    if (value.length + 2 > this.left || PLAIN_TEXT.test(value)) this.#take(value.length + 2);
    else this.#take(Buffer.byteLength(JSON.stringify(value)));
  }

  #container(value: object): void {
    const raw = rawText(value);
    if (raw !== undefined) return this.#take(Buffer.byteLength(raw));
    if (this.#open.includes(value)) throw STOP; // a cycle
    if (this.#open.length === MAX_DEPTH) this.#take(Infinity);
    this.#open.push(value);
    this.#take(2);
    if (Array.isArray(value)) this.#elements(value);
    else this.#properties(value as Record<string, unknown>);
    this.#open.pop();
  }

  #elements(value: readonly unknown[]): void {
    const length = lengthOf(value);
    for (let at = 0; at < length; at++) {
      if (at > 0) this.#take(1);
      this.add(settled(value[at], at));
    }
  }

  #properties(value: Record<string, unknown>): void {
    let some = false;
    for (const key of Object.keys(value)) {
      const member = settled(value[key], key);
      if (member === undefined) continue;
      this.#take(some ? 2 : 1); // comma and colon
      some = true;
      this.#text(key);
      this.add(member);
    }
  }
}
