// A value as JSON text, in bytes, a batch at a time: a walk with a stack of its own that may stop after any member.
import { HarnessFileError, describe, nameOf } from "../errors.js";
import type { Batch, Filled } from "../source/batch.js";
import { type Form, needsForm, strict } from "./form.js";
import { JsonBytes } from "./json-bytes.js";
import { Level, indent } from "./level.js";
import { placeOf } from "./place.js";
import { lengthOf, rawText } from "./settle.js";

/** Deeper indents are not kept: together they would take a hundred megabytes. */
const MAX_KEPT_LEVELS = 64;
/** After so many steps the caller may look at the clock. */
const STEPS = 2048;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

/** A container that is being written. */
interface Frame {
  holder: Record<string | number, unknown>;
  /** undefined for an array. */
  keys: readonly string[] | undefined;
  /** Where the members of an array come from, if not from `holder`. */
  entries: Iterator<unknown> | undefined;
  length: number;
  at: number;
  /** Whether a member is written already. */
  some: boolean;
}

type Members = Pick<Frame, "keys" | "entries" | "length">;

export class JsonText {
  readonly #form: Form;
  #root: unknown;
  #started = false;
  /** Reused: those up to `#depth` are open. */
  readonly #frames: Frame[] = [];
  #depth = -1;
  /** Holders below the depth to which it is quicker to look through the frames. */
  readonly #deep = new Set<object>();
  readonly #levels: Level[] = [];
  readonly #out = new JsonBytes();
  #refused: HarnessFileError | undefined;
  /** The most levels that were open at a time so far. */
  deepest = 0;

  constructor(value: unknown, form: Form = strict) {
    this.#root = value;
    this.#form = form;
  }

  /** Goes on writing; "pause" comes every few thousand members. */
  into(batch: Batch): Filled {
    this.#out.enter(batch);
    try {
      return this.#run();
    } catch (error) {
      // Whatever a getter or `toJSON` throws, also an error of ours.
      throw error === this.#refused ? error : this.#refusal(`cannot be read (${nameOf(error)})`, error);
    } finally {
      this.#out.leave();
    }
  }

  #run(): Filled {
    if (!this.#started) this.#start();
    for (let step = 0; step < STEPS; step++) {
      const room = this.#out.hasRoom();
      if (this.#depth < 0) return this.#out.drained ? "end" : "full";
      if (!room) return "full";
      const frame = this.#frames[this.#depth] as Frame;
      if (frame.at === frame.length) this.#close(frame);
      else if (frame.entries !== undefined) this.#entry(frame, frame.entries);
      else if (frame.keys === undefined) this.#element(frame);
      else this.#member(frame, frame.keys[frame.at] as string);
    }
    return "pause";
  }

  #start(): void {
    this.#started = true;
    const value = this.#settled(this.#root, "");
    this.#root = undefined;
    if (!hasText(value)) throw this.#refusal(`is ${describe(value)}, which JSON cannot hold`);
    this.#value(value);
  }

  #element(frame: Frame): void {
    const at = frame.at++;
    let value: unknown;
    try {
      value = frame.holder[at];
      if (needsForm(value)) value = this.#form.settle(value, at);
    } catch (error) {
      value = this.#unreadable(error);
    }
    this.#before(frame, undefined);
    this.#value(hasText(value) ? value : null);
  }

  #entry(frame: Frame, entries: Iterator<unknown>): void {
    const { done, value } = entries.next();
    if (done === true) {
      frame.length = frame.at;
      return;
    }
    const settled = this.#settled(value, frame.at++);
    this.#before(frame, undefined);
    this.#value(hasText(settled) ? settled : null);
  }

  #member(frame: Frame, key: string): void {
    frame.at++;
    let value: unknown;
    try {
      value = frame.holder[key];
      if (needsForm(value)) value = this.#form.settle(value, key);
    } catch (error) {
      value = this.#unreadable(error);
    }
    if (!hasText(value)) return;
    this.#before(frame, key);
    this.#value(value);
  }

  #settled(value: unknown, key: string | number): unknown {
    try {
      return needsForm(value) ? this.#form.settle(value, key) : value;
    } catch (error) {
      return this.#unreadable(error);
    }
  }

  /** What stands for what cannot be read, where the form has something. */
  #unreadable(error: unknown): string {
    if (this.#form.unreadable === undefined) throw error;
    return this.#form.unreadable(error);
  }

  /** What stands before a member: comma, line end, indent, key. */
  #before(frame: Frame, key: string | undefined): void {
    const skip = frame.some ? 0 : 1;
    frame.some = true;
    if (this.#depth >= this.#form.compactFrom) return this.#beforeCompact(skip, key);
    const level = this.#level();
    if (level === undefined) {
      this.#out.ascii(`,\n${indent(this.#depth + 1)}`.slice(skip));
    } else {
      const member = key === undefined ? level.element : level.member(key);
      if (member !== undefined) return this.#out.copy(member, skip);
      this.#out.copy(level.element, skip);
    }
    if (key === undefined) return;
    this.#out.quoted(key);
    this.#out.ascii(": ");
  }

  #beforeCompact(skip: number, key: string | undefined): void {
    if (skip === 0) this.#out.ascii(",");
    if (key === undefined) return;
    this.#out.quoted(key);
    this.#out.ascii(":");
  }

  /** undefined where indents are not kept. */
  #level(): Level | undefined {
    if (this.#depth >= MAX_KEPT_LEVELS) return undefined;
    return (this.#levels[this.#depth] ??= new Level(this.#depth));
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case "string":
        return this.#out.quoted(value);
      case "number":
        return Number.isFinite(value) ? this.#out.ascii(`${value}`) : this.#out.copy(NULL, 0);
      case "boolean":
        return this.#out.copy(value ? TRUE : FALSE, 0);
      case "object":
        return value === null ? this.#out.copy(NULL, 0) : this.#open(value);
      default:
        throw this.#refusal("is a BigInt, which JSON cannot hold");
    }
  }

  #open(value: object): void {
    const raw = rawText(value);
    if (raw !== undefined) {
      this.#out.feed(raw);
      return;
    }
    if (this.#isOpen(value)) {
      if (this.#form.cycle === undefined) throw this.#refusal("is a cycle: it holds itself");
      return this.#out.quoted(this.#form.cycle);
    }
    const { maxDepth } = this.#form;
    if (this.#depth + 1 >= maxDepth) throw this.#refusal(`is too deep: more than ${maxDepth} levels`);
    const members = this.#members(value);
    if (typeof members === "string") return this.#out.quoted(members);
    const isArray = members.keys === undefined;
    if (members.length === 0) return this.#out.ascii(isArray ? "[]" : "{}");
    this.#out.ascii(isArray ? "[" : "{");
    this.#push(value as Frame["holder"], members);
  }

  /** What a container holds; or what stands for one that cannot be looked at. */
  #members(value: object): Members | string {
    try {
      const entries = this.#form.entries?.(value);
      if (entries !== undefined) return { keys: undefined, entries, length: Infinity };
      if (Array.isArray(value)) return { keys: undefined, entries, length: lengthOf(value) };
      const keys = Object.keys(value);
      return { keys, entries, length: keys.length };
    } catch (error) {
      return this.#unreadable(error);
    }
  }

  #push(holder: Frame["holder"], { keys, entries, length }: Members): void {
    this.#depth++;
    if (this.#depth >= this.deepest) this.deepest = this.#depth + 1;
    if (this.#depth >= MAX_KEPT_LEVELS) this.#deep.add(holder);
    const frame = this.#frames[this.#depth];
    if (frame === undefined) {
      this.#frames.push({ holder, keys, entries, length, at: 0, some: false });
    } else {
      frame.holder = holder;
      frame.keys = keys;
      frame.entries = entries;
      frame.length = length;
      frame.at = 0;
      frame.some = false;
    }
  }

  #isOpen(value: object): boolean {
    const near = Math.min(this.#depth, MAX_KEPT_LEVELS - 1);
    for (let depth = 0; depth <= near; depth++) if (this.#frames[depth]?.holder === value) return true;
    return this.#deep.has(value);
  }

  #close(frame: Frame): void {
    const bracket = frame.keys === undefined ? "]" : "}";
    const compact = this.#depth >= this.#form.compactFrom;
    const level = compact ? undefined : this.#level();
    if (!frame.some || compact) this.#out.ascii(bracket);
    else if (level === undefined) this.#out.ascii(`\n${indent(this.#depth)}${bracket}`);
    else this.#out.copy(frame.keys === undefined ? level.endArray : level.endObject, 0);
    if (this.#depth >= MAX_KEPT_LEVELS) this.#deep.delete(frame.holder);
    this.#depth--;
  }

  #refusal(what: string, cause?: unknown): HarnessFileError {
    const at = placeOf(this.#keys());
    const fields = { details: { at }, ...(cause !== undefined && { cause }) };
    this.#refused = new HarnessFileError("FS_INVALID_CONTENT", `${at} ${what}`, fields);
    return this.#refused;
  }

  /** Of the member that is being written, from the inside out. */
  *#keys(): Generator<string | number> {
    for (let depth = this.#depth; depth >= 0; depth--) {
      const { keys, at } = this.#frames[depth] as Frame;
      yield keys === undefined ? at - 1 : (keys[at - 1] as string);
    }
  }
}

/** undefined, functions and symbols have none: left out of objects, null in arrays. */
function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
