export const BATCH_BYTES = 1024 * 1024;
/** Not touched between `push` and its end: the addon reads it from another thread. */
export class Batch {
    bytes = Buffer.allocUnsafeSlow(BATCH_BYTES);
    length = 0;
    get room() {
        return BATCH_BYTES - this.length;
    }
    get filled() {
        return this.bytes.subarray(0, this.length);
    }
    /** Copies what fits of `from`, starting at `at`; gives how many bytes that was. */
    append(from, at) {
        const size = Math.min(this.room, from.byteLength - at);
        this.bytes.set(size === from.byteLength ? from : from.subarray(at, at + size), this.length);
        this.length += size;
        return size;
    }
}
