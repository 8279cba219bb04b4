// The bytes that stand before the members of one depth and at its end. They recur with every row, so they are kept.
const INDENT = "  ";
const MAX_KEPT_KEYS = 1024;
const MAX_KEPT_KEY_LENGTH = 128;
export class Level {
    /** `,\n` and the indent; the first member leaves the comma out. */
    element;
    endArray;
    endObject;
    #indent;
    #keys = new Map();
    constructor(depth) {
        this.#indent = indent(depth + 1);
        this.element = Buffer.from(`,\n${this.#indent}`);
        this.endArray = Buffer.from(`\n${indent(depth)}]`);
        this.endObject = Buffer.from(`\n${indent(depth)}}`);
    }
    /** The same with the key: `,\n  "id": `. undefined for a key that is not worth keeping. */
    member(key) {
        const kept = this.#keys.get(key);
        if (kept !== undefined || this.#keys.size >= MAX_KEPT_KEYS || key.length > MAX_KEPT_KEY_LENGTH)
            return kept;
        const bytes = Buffer.from(`,\n${this.#indent}${JSON.stringify(key)}: `);
        this.#keys.set(key, bytes);
        return bytes;
    }
}
export function indent(depth) {
    return INDENT.repeat(depth);
}
