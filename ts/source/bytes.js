// Whatever holds bytes, as the Uint8Array over them.
import { types } from "node:util";
import { HarnessFileError } from "../errors.js";
/** undefined when the value holds no bytes. Of another realm will do. */
export function asBytes(value) {
    if (ArrayBuffer.isView(value))
        return bytesOf(() => new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    if (types.isAnyArrayBuffer(value))
        return bytesOf(() => new Uint8Array(value));
    return undefined;
}
/** A buffer that was transferred away has no bytes left, and says so only here: it must not become an empty file. */
function bytesOf(view) {
    try {
        return view();
    }
    catch (cause) {
        throw new HarnessFileError("FS_INVALID_CONTENT", "The buffer is detached: it was transferred away", { cause });
    }
}
/** Over memory that another thread may change at any time. */
export function isShared(bytes) {
    return types.isSharedArrayBuffer(bytes.buffer);
}
