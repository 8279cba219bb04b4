// What JSON.stringify makes of a value before it writes it.
import { types } from "node:util";
const { isRawJSON } = JSON;
/** Whether `toJSON` or a box may stand between this value and its text. */
export function isUnsettled(value) {
    return (typeof value === "object" && value !== null) || typeof value === "bigint" || typeof value === "function";
}
/** Calls `toJSON` with the key, as JSON.stringify does, and takes the primitive out of a box. */
export function settle(value, key) {
    const { toJSON } = value;
    const given = typeof toJSON === "function" ? Reflect.apply(toJSON, value, [String(key)]) : value;
    return types.isBoxedPrimitive(given) ? unboxed(given) : given;
}
function unboxed(box) {
    // Conversions rather than valueOf: a box may have methods of its own, and JSON.stringify calls them.
    if (types.isNumberObject(box))
        return +box;
    if (types.isStringObject(box))
        return `${box}`;
    if (types.isBooleanObject(box))
        return Boolean.prototype.valueOf.call(box);
    if (types.isBigIntObject(box))
        return BigInt.prototype.valueOf.call(box);
    return box; // a symbol in a box is an object like any other
}
/** The text of a JSON.rawJSON value, where the runtime has those. */
export function rawText(value) {
    return isRawJSON !== undefined && isRawJSON(value) ? value.rawJSON : undefined;
}
/** The length of an array, which a proxy may make up. */
export function lengthOf(array) {
    const length = Math.trunc(Number(array.length));
    return length > 0 ? Math.min(length, Number.MAX_SAFE_INTEGER) : 0;
}
