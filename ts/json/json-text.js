// JSON.stringify(value, null, 2) as bytes, a batch at a time: a walk with a stack of its own that may stop after any member.
import { HarnessFileError, describe, nameOf } from "../errors.js";
import { BATCH_BYTES } from "../source/batch.js";
import { TextFeed } from "../source/text-feed.js";
import { Level, indent } from "./level.js";
import { placeOf } from "./place.js";
import { QuotedFeed } from "./quoted-feed.js";
import { isUnsettled, lengthOf, rawText, settle } from "./settle.js";
/** More than twice what JSON.stringify manages on the default stack of Node 20 to 24 (4,100 to 4,460). */
const MAX_DEPTH = 10_000;
/** Deeper indents are not kept: together they would take a hundred megabytes. */
const MAX_KEPT_LEVELS = 64;
/** Longer strings go in slices. */
const MAX_SHORT = 1024;
/** More than one step can add to a batch: a key and a string, each of MAX_SHORT characters, all escaped, and indents. */
const STEP_BYTES = 16 * 1024;
/** After so many steps the caller may look at the clock. */
const STEPS = 2048;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");
const encoder = new TextEncoder();
export class JsonText {
    #root;
    #started = false;
    /** Reused: those up to `#depth` are open. */
    #frames = [];
    #depth = -1;
    /** Holders below the depth to which it is quicker to look through the frames. */
    #deep = new Set();
    #levels = [];
    /** Text that is too long for one step, in order. While there is any, all text goes there. */
    #waiting = [];
    #bytes = NULL;
    #at = 0;
    constructor(value) {
        this.#root = value;
    }
    /** Goes on writing; "pause" comes every few thousand members. */
    into(batch) {
        this.#bytes = batch.bytes;
        this.#at = batch.length;
        try {
            return this.#run(batch);
        }
        catch (error) {
            throw error instanceof HarnessFileError ? error : this.#refusal(`cannot be read (${nameOf(error)})`, error);
        }
        finally {
            batch.length = this.#at;
        }
    }
    #run(batch) {
        if (!this.#started)
            this.#start();
        for (let step = 0; step < STEPS; step++) {
            if (this.#waiting.length > 0 && !this.#drain(batch))
                return "full";
            if (this.#depth < 0)
                return "end";
            if (BATCH_BYTES - this.#at < STEP_BYTES)
                return "full";
            const frame = this.#frames[this.#depth];
            if (frame.at === frame.length)
                this.#close(frame);
            else if (frame.keys === undefined)
                this.#element(frame);
            else
                this.#member(frame, frame.keys[frame.at]);
        }
        return "pause";
    }
    #drain(batch) {
        batch.length = this.#at;
        while (this.#waiting.length > 0 && this.#waiting[0]?.into(batch))
            this.#waiting.shift();
        this.#at = batch.length;
        return this.#waiting.length === 0;
    }
    #start() {
        this.#started = true;
        const value = isUnsettled(this.#root) ? settle(this.#root, "") : this.#root;
        this.#root = undefined;
        if (!hasText(value))
            throw this.#refusal(`is ${describe(value)}, which JSON cannot hold`);
        this.#value(value);
    }
    #element(frame) {
        const at = frame.at++;
        const value = frame.holder[at];
        const settled = isUnsettled(value) ? settle(value, at) : value;
        this.#before(frame, undefined);
        this.#value(hasText(settled) ? settled : null);
    }
    #member(frame, key) {
        frame.at++;
        const value = frame.holder[key];
        const settled = isUnsettled(value) ? settle(value, key) : value;
        if (!hasText(settled))
            return;
        this.#before(frame, key);
        this.#value(settled);
    }
    /** What stands before a member: comma, line end, indent, key. */
    #before(frame, key) {
        const skip = frame.some ? 0 : 1;
        frame.some = true;
        const level = this.#level();
        if (level === undefined) {
            this.#text(`,\n${indent(this.#depth + 1)}`.slice(skip));
        }
        else {
            const member = key === undefined ? level.element : level.member(key);
            if (member !== undefined)
                return this.#copy(member, skip);
            this.#copy(level.element, skip);
        }
        if (key === undefined)
            return;
        this.#string(key);
        this.#text(": ");
    }
    /** undefined where indents are not kept. */
    #level() {
        if (this.#depth >= MAX_KEPT_LEVELS)
            return undefined;
        return (this.#levels[this.#depth] ??= new Level(this.#depth));
    }
    #value(value) {
        switch (typeof value) {
            case "string":
                return this.#string(value);
            case "number":
                return Number.isFinite(value) ? this.#text(`${value}`) : this.#copy(NULL, 0);
            case "boolean":
                return this.#copy(value ? TRUE : FALSE, 0);
            case "object":
                return value === null ? this.#copy(NULL, 0) : this.#open(value);
            default:
                throw this.#refusal("is a BigInt, which JSON cannot hold");
        }
    }
    #open(value) {
        const raw = rawText(value);
        if (raw !== undefined) {
            this.#waiting.push(new TextFeed(raw));
            return;
        }
        if (this.#isOpen(value))
            throw this.#refusal("is a cycle: it holds itself");
        if (this.#depth + 1 >= MAX_DEPTH)
            throw this.#refusal(`is too deep: more than ${MAX_DEPTH} levels`);
        const isArray = Array.isArray(value);
        const keys = isArray ? undefined : Object.keys(value);
        const length = isArray ? lengthOf(value) : keys.length;
        if (length === 0)
            return this.#text(isArray ? "[]" : "{}");
        this.#text(isArray ? "[" : "{");
        this.#push(value, keys, length);
    }
    #push(holder, keys, length) {
        this.#depth++;
        if (this.#depth >= MAX_KEPT_LEVELS)
            this.#deep.add(holder);
        const frame = this.#frames[this.#depth];
        if (frame === undefined) {
            this.#frames.push({ holder, keys, length, at: 0, some: false });
        }
        else {
            frame.holder = holder;
            frame.keys = keys;
            frame.length = length;
            frame.at = 0;
            frame.some = false;
        }
    }
    #isOpen(value) {
        const near = Math.min(this.#depth, MAX_KEPT_LEVELS - 1);
        for (let depth = 0; depth <= near; depth++)
            if (this.#frames[depth]?.holder === value)
                return true;
        return this.#deep.has(value);
    }
    #close(frame) {
        const bracket = frame.keys === undefined ? "]" : "}";
        const level = this.#level();
        if (!frame.some)
            this.#text(bracket);
        else if (level === undefined)
            this.#text(`\n${indent(this.#depth)}${bracket}`);
        else
            this.#copy(frame.keys === undefined ? level.endArray : level.endObject, 0);
        if (this.#depth >= MAX_KEPT_LEVELS)
            this.#deep.delete(frame.holder);
        this.#depth--;
    }
    /** Short and ASCII, as nearly all text that is neither a key nor a string. */
    #text(text) {
        if (this.#waiting.length > 0 || text.length > MAX_SHORT) {
            this.#waiting.push(new TextFeed(text));
            return;
        }
        const bytes = this.#bytes;
        let at = this.#at;
        for (let index = 0; index < text.length; index++)
            bytes[at++] = text.charCodeAt(index);
        this.#at = at;
    }
    /** A loop of our own: for so few bytes `set` costs more. */
    #copy(from, start) {
        if (this.#waiting.length > 0)
            return this.#text(Buffer.from(from.subarray(start)).toString());
        const bytes = this.#bytes;
        let at = this.#at;
        for (let index = start; index < from.length; index++)
            bytes[at++] = from[index];
        this.#at = at;
    }
    #string(text) {
        const { length } = text;
        if (this.#waiting.length > 0 || length > MAX_SHORT) {
            this.#waiting.push(new QuotedFeed(text));
            return;
        }
        const bytes = this.#bytes;
        let at = this.#at;
        bytes[at++] = QUOTE;
        for (let index = 0; index < length; index++) {
            const unit = text.charCodeAt(index);
            if (unit < 0x80) {
                if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH)
                    return this.#escaped(text);
                bytes[at++] = unit;
            }
            else if (unit < 0x800) {
                bytes[at++] = 0xc0 | (unit >> 6);
                bytes[at++] = 0x80 | (unit & 0x3f);
            }
            else if (unit < 0xd800 || unit > 0xdfff) {
                bytes[at++] = 0xe0 | (unit >> 12);
                bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
                bytes[at++] = 0x80 | (unit & 0x3f);
            }
            else {
                return this.#escaped(text);
            }
        }
        bytes[at++] = QUOTE;
        this.#at = at;
    }
    /** With escapes or surrogates, which JSON.stringify knows best. */
    #escaped(text) {
        this.#at += encoder.encodeInto(JSON.stringify(text), this.#bytes.subarray(this.#at)).written;
    }
    #refusal(what, cause) {
        const at = placeOf(this.#keys());
        const fields = { details: { at }, ...(cause !== undefined && { cause }) };
        return new HarnessFileError("FS_INVALID_CONTENT", `${at} ${what}`, fields);
    }
    /** Of the member that is being written, from the inside out. */
    *#keys() {
        for (let depth = this.#depth; depth >= 0; depth--) {
            const { keys, at } = this.#frames[depth];
            yield keys === undefined ? at - 1 : keys[at - 1];
        }
    }
}
/** undefined, functions and symbols have none: left out of objects, null in arrays. */
function hasText(value) {
    return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
