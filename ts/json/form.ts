// How values become text: as JSON.stringify has it, or with forms that are stated for what JSON cannot hold.
import { isUnsettled, settle } from "./settle.js";

export interface Form {
  /** What is written for an object, function, symbol or BigInt. It may throw. */
  settle(value: unknown, key: string | number): unknown;
  /** More levels are refused. */
  readonly maxDepth: number;
  /** Containers at this depth and deeper have neither line ends nor indents. */
  readonly compactFrom: number;
  /** Stands for a container inside itself. Without it that is refused; so with the next. */
  readonly cycle?: string;
  /** Stands for what cannot be read: its getter or `toJSON` throws. */
  unreadable?(error: unknown): string;
  /** The members of what is to be written as an array though it is none. */
  entries?(value: object): Iterator<unknown> | undefined;
}

/** JSON.stringify(value, null, 2). */
export const strict: Form = {
  settle: (value, key) => (isUnsettled(value) ? settle(value, key) : value),
  maxDepth: 10_000, // more than twice what JSON.stringify manages on the default stack of Node 20 to 24 (4,100 to 4,460)
  compactFrom: Infinity,
};

/** Numbers, strings, booleans, null and undefined are what they are. */
export function needsForm(value: unknown): boolean {
  return isUnsettled(value) || typeof value === "symbol";
}
