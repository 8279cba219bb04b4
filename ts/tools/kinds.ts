// Kinds of values that JSON has no form for, though JSON.stringify may write something.
import { types } from "node:util";
import type { FileData } from "../../index.js";

export function isBytes(value: object): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

/** What `read` gives; by structure, so that another copy of the package will do. */
export function isFileData(value: unknown): value is FileData {
  if (typeof value !== "object" || value === null) return false;
  const { path, sha256, content, text, json } = value as Partial<FileData>;
  const reads = typeof text === "function" && typeof json === "function";
  return reads && typeof path === "string" && typeof sha256 === "string" && types.isUint8Array(content);
}

/** Whether nothing but its own members matters: no class, no `toJSON` of a class. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** Map, Set, Error: JSON.stringify makes `{}` of them. */
export function isFormless(value: object): boolean {
  return types.isMap(value) || types.isSet(value) || isError(value);
}
