// What JSON.stringify makes of a value before it writes it.
import { types } from "node:util";

type RawJSON = { readonly rawJSON: string };
type WithRawJSON = typeof JSON & { isRawJSON?: (value: unknown) => value is RawJSON };

const { isRawJSON } = JSON as WithRawJSON;

/** Whether `toJSON` or a box may stand between this value and its text. */
export function isUnsettled(value: unknown): value is object | bigint {
  return (typeof value === "object" && value !== null) || typeof value === "bigint" || typeof value === "function";
}

/** Calls `toJSON` with the key, as JSON.stringify does, and takes the primitive out of a box. */
export function settle(value: object | bigint, key: string | number): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  const given: unknown = typeof toJSON === "function" ? Reflect.apply(toJSON, value, [String(key)]) : value;
  return types.isBoxedPrimitive(given) ? unboxed(given) : given;
}

function unboxed(box: object): unknown {
  // Conversions rather than valueOf: a box may have methods of its own, and JSON.stringify calls them.
  if (types.isNumberObject(box)) return +(box as unknown as number);
  if (types.isStringObject(box)) return `${box as unknown as string}`;
  if (types.isBooleanObject(box)) return Boolean.prototype.valueOf.call(box);
  if (types.isBigIntObject(box)) return BigInt.prototype.valueOf.call(box);
  return box; // a symbol in a box is an object like any other
}

/** The text of a JSON.rawJSON value, where the runtime has those. */
export function rawText(value: object): string | undefined {
  return isRawJSON !== undefined && isRawJSON(value) ? value.rawJSON : undefined;
}

/** The length of an array, which a proxy may make up. */
export function lengthOf(array: { readonly length: unknown }): number {
  const length = Math.trunc(Number(array.length));
  return length > 0 ? Math.min(length, Number.MAX_SAFE_INTEGER) : 0;
}
