// The form of what JSON cannot hold. Nothing is left out in silence, and nothing makes the writing fail but endless depth.
import { types } from "node:util";
import type { FileData } from "../../index.js";
import { printable } from "../errors.js";
import type { Form } from "../json/form.js";
import { isUnsettled, settle } from "../json/settle.js";
import { isBytes, isError, isFileData } from "./kinds.js";
import { MAX_DEPTH } from "./measure.js";

const MAX_NAME_LENGTH = 200;

/** `compactFrom` 0 for what goes to the model; for a file, line ends and indents as far down as a person looks. */
export function statedForm(ofFile: (data: FileData) => unknown, compactFrom: number = MAX_DEPTH): Form {
  return {
    maxDepth: 10_000,
    compactFrom,
    cycle: "[Circular]",
    unreadable: (error) => `[unreadable: ${name(error)}]`,
    entries,
    settle(value, key) {
      // These have a `toJSON`, or are large: their own form comes first.
      const form = typeof value === "object" && value !== null ? ofContent(value, ofFile) : undefined;
      if (form !== undefined) return form;
      const given = isUnsettled(value) ? settle(value, key) : value;
      if (typeof given !== "object" || given === null) return stated(given);
      return ofContent(given, ofFile) ?? (isError(given) ? statedError(given) : given);
    },
  };
}

function ofContent(value: object, ofFile: (data: FileData) => unknown): unknown {
  const form = isFileData(value) ? ofFile(value) : value;
  if (typeof form === "object" && form !== null && isBytes(form)) return statedBytes(form);
  return form === value ? undefined : form;
}

/** Of primitives and functions; what JSON can hold is what it is. */
export function stated(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function") return labelled("function", value.name);
  return typeof value === "symbol" ? labelled("symbol", value.description) : value;
}

function labelled(kind: string, label: unknown): string {
  const text = typeof label === "string" ? printable(label.slice(0, MAX_NAME_LENGTH)) : "";
  return text === "" ? `[${kind}]` : `[${kind} ${text}]`;
}

function statedBytes({ byteLength }: ArrayBufferView | ArrayBuffer): { type: "bytes"; bytes: number } {
  return { type: "bytes", bytes: byteLength };
}

function statedError(error: Error): { name: unknown; message: unknown; code?: string | number } {
  const code: unknown = Reflect.get(error, "code");
  const { message } = error;
  return {
    name: name(error),
    message: typeof message === "string" ? message : "",
    ...((typeof code === "string" || typeof code === "number") && { code }),
  };
}

function name(error: unknown): string {
  const given: unknown = isError(error) ? error.name : typeof error;
  return typeof given === "string" ? given.slice(0, MAX_NAME_LENGTH) : "Error";
}

/** A Map is an array of pairs, a Set an array, whatever their class says of iteration. */
function entries(value: object): Iterator<unknown> | undefined {
  if (types.isMap(value)) return Map.prototype.entries.call(value);
  return types.isSet(value) ? Set.prototype.values.call(value) : undefined;
}
