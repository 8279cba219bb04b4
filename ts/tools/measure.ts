// How many bytes a value takes as compact JSON, found without writing it, up to a limit.
import { types } from "node:util";
import { isUnsettled, lengthOf, rawText, settle } from "../json/settle.js";
import { isBytes, isFileData, isFormless, isPlain } from "./kinds.js";

/** More than the limit, or deeper than a consumer may be trusted with. */
export const OVER = -1;
/** Holds something that JSON has no form for, so that its size depends on the form that is chosen; or that cannot be copied. */
export const NOT_JSON = -2;

/** Deeper values count as over any limit: consumers walk them by recursion. */
export const MAX_DEPTH = 200;

/** Text that JSON writes as it is. */
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Up to here a loop beats the expression. */
const SHORT = 40;

const STOP = new Error("stop");

/** The size as JSON.stringify would make it; OVER; or NOT_JSON. */
export function measure(value: unknown, limit: number): number {
  const meter = new Meter(limit);
  try {
    meter.add(meter.settled(value, ""));
    return meter.odd && !isCopied(value) ? NOT_JSON : limit - meter.left;
  } catch {
    return meter.left < 0 ? OVER : NOT_JSON; // also for a getter or `toJSON` that throws
  }
}

/** Some SDKs copy outputs by structuredClone, which refuses proxies, promises and more; JSON writes those. */
function isCopied(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

class Meter {
  left: number;
  /** Whether there is anything but plain objects, arrays and Dates. */
  odd = false;
  readonly #open: object[] = [];

  constructor(limit: number) {
    this.left = limit;
  }

  /** What JSON.stringify writes for a value. */
  settled(value: unknown, key: string | number): unknown {
    if (!isUnsettled(value)) return value;
    if (typeof value === "object") {
      if (types.isProxy(value)) this.odd = true;
      if (isPlain(value) && typeof (value as { toJSON?: unknown }).toJSON !== "function") return value;
      if (isBytes(value)) throw STOP; // not by their `toJSON`
      if (!types.isDate(value)) this.odd = true;
    }
    const given = settle(value, key);
    const formless =
      typeof given === "object" && given !== null && (isBytes(given) || isFileData(given) || isFormless(given));
    if (formless) throw STOP;
    return given;
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
        return this.#take(sizeOfNumber(value));
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
    if (value.length + 2 > this.left || isPlainText(value)) this.#take(value.length + 2);
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
      const element = value[at];
      this.add(isPrimitive(element) ? element : this.settled(element, at));
    }
  }

  #properties(value: Record<string, unknown>): void {
    let some = false;
    for (const key of Object.keys(value)) {
      const property = value[key];
      const member = isPrimitive(property) ? property : this.settled(property, key);
      if (member === undefined) continue;
      this.#take(some ? 2 : 1); // comma and colon
      some = true;
      this.#text(key);
      this.add(member);
    }
  }
}

/** Without a look at each of the functions that settle the rest: most values are. */
function isPrimitive(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function sizeOfNumber(value: number): number {
  if (value >= 0 && value < 1e6 && Math.trunc(value) === value) {
    return value < 10 ? 1 : value < 100 ? 2 : value < 1e3 ? 3 : value < 1e4 ? 4 : value < 1e5 ? 5 : 6;
  }
  return Number.isFinite(value) ? String(value).length : 4;
}

function isPlainText(value: string): boolean {
  if (value.length > SHORT) return PLAIN_TEXT.test(value);
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
