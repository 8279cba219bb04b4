// How many bytes a value takes as compact JSON, found without writing it, up to a limit.
import { isUnsettled, lengthOf, rawText, settle } from "../json/settle.js";
import { isBytes, isFileData, isFormless, isPlain } from "./kinds.js";

/** More than the limit, or deeper than a consumer may be trusted with. */
export const OVER = -1;
/** Holds something that JSON has no form for; its size depends on the form that is chosen. */
export const NOT_JSON = -2;

/** Deeper values count as over any limit: consumers walk them by recursion. */
export const MAX_DEPTH = 200;

/** Text that JSON writes as it is. */
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** The size as JSON.stringify would make it; OVER; or NOT_JSON. */
export function measure(value: unknown, limit: number): number {
  const meter = new Meter(limit);
  try {
    const outcome = meter.add(value, "");
    return outcome === OK ? limit - meter.left : outcome;
  } catch {
    return NOT_JSON; // a getter or `toJSON` that throws
  }
}

const OK = 0;
type Outcome = typeof OK | typeof OVER | typeof NOT_JSON;

class Meter {
  left: number;
  readonly #open: object[] = [];

  constructor(limit: number) {
    this.left = limit;
  }

  #take(bytes: number): Outcome {
    this.left -= bytes;
    return this.left < 0 ? OVER : OK;
  }

  /** A value that is written for certain: at the top or in an array, where what has no text becomes null. */
  add(value: unknown, key: string | number): Outcome {
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
        return value === null ? this.#take(4) : this.#object(value, key);
      case "bigint":
        return this.#settled(value, key);
      default:
        return NOT_JSON; // functions and symbols
    }
  }

  #text(value: string): Outcome {
    if (value.length + 2 > this.left) return OVER;
    if (PLAIN_TEXT.test(value)) return this.#take(value.length + 2);
    return this.#take(Buffer.byteLength(JSON.stringify(value)));
  }

  #object(value: object, key: string | number): Outcome {
    if (isPlain(value) && !("toJSON" in value)) return this.#members(value);
    if (isBytes(value) || isFileData(value)) return NOT_JSON;
    return this.#settled(value, key);
  }

  #settled(value: object | bigint, key: string | number): Outcome {
    const settled = settle(value, key);
    if (typeof settled === "object" && settled !== null) {
      return isBytes(settled) || isFormless(settled) ? NOT_JSON : this.#members(settled);
    }
    return isUnsettled(settled) ? NOT_JSON : this.add(settled, key);
  }

  #members(value: object): Outcome {
    const raw = rawText(value);
    if (raw !== undefined) return this.#take(Buffer.byteLength(raw));
    if (this.#open.includes(value)) return NOT_JSON; // a cycle
    if (this.#open.length >= MAX_DEPTH) return OVER;
    this.#open.push(value);
    const outcome = Array.isArray(value) ? this.#elements(value) : this.#properties(value as Record<string, unknown>);
    this.#open.pop();
    return outcome;
  }

  #elements(value: readonly unknown[]): Outcome {
    const length = lengthOf(value);
    // Brackets and commas, and at least one byte for each.
    if (2 * length > this.left) return OVER;
    let outcome = this.#take(2 + Math.max(0, length - 1));
    for (let at = 0; at < length && outcome === OK; at++) outcome = this.add(value[at], at);
    return outcome;
  }

  #properties(value: Record<string, unknown>): Outcome {
    let outcome = this.#take(2);
    let some = false;
    for (const key of Object.keys(value)) {
      if (outcome !== OK) return outcome;
      const member = value[key];
      if (member === undefined) continue;
      const before = this.left;
      outcome = this.#property(key, member, some);
      if (this.left !== before) some = true;
    }
    return outcome;
  }

  #property(key: string, member: unknown, some: boolean): Outcome {
    // `toJSON` may give undefined, and then the key is not written either.
    const settled = isUnsettled(member) && "toJSON" in Object(member) && !isBytes(Object(member)) ? settle(member, key) : member;
    if (settled === undefined) return OK;
    const outcome = this.#text(key);
    if (outcome !== OK) return outcome;
    return this.#take(some ? 2 : 1) === OK ? this.add(settled === member ? member : new Settled(settled), key) : OVER;
  }
}
