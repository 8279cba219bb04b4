// Errors of tools reach the model as their text, so that is bounded as well. Everything else of them stays as it was.
import { describe } from "../errors.js";
import { cutText } from "./cut-text.js";
import { isError } from "./kinds.js";
import { OVER, measure } from "./measure.js";

const ENDING = "… [cut]";

/** The error itself, unless its text takes more than `limit` bytes. */
export function boundedError(error: unknown, limit: number): unknown {
  if (typeof error === "string") return fits(error, limit) ? error : cut(error, limit);
  if (isError(error)) return boundedMessage(error, limit);
  const size = measure(error, limit);
  if (size >= 0) return error;
  // SDKs write out as JSON what is no error, which must then be possible.
  const what = size === OVER ? "which is too large to be shown" : "which JSON cannot hold";
  return new Error(`The tool threw ${describe(error)}, ${what}`, { cause: error });
}

function boundedMessage(error: Error, limit: number): Error {
  const { name, message } = error;
  if (typeof message !== "string") return error;
  const prefix = typeof name === "string" ? `${name}: ` : ""; // some SDKs put it before the message
  if (fits(prefix, limit) && fits(message, limit - Buffer.byteLength(prefix))) return error;
  const shorter = cut(message, Math.max(0, limit - Buffer.byteLength(prefix)));
  const property = { value: shorter, writable: true, configurable: true, enumerable: false };
  try {
    return Object.defineProperty(error, "message", property);
  } catch {
    // Frozen: another object of the same class, with all it had.
    const properties = { ...Object.getOwnPropertyDescriptors(error), message: property };
    return Object.create(Object.getPrototypeOf(error) as object, properties) as Error;
  }
}

function fits(text: string, limit: number): boolean {
  return text.length <= limit && Buffer.byteLength(text) <= limit;
}

function cut(text: string, limit: number): string {
  return cutText(text, limit - Buffer.byteLength(ENDING)) + ENDING;
}
