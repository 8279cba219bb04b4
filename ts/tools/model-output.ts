// A tool's own `toModelOutput` expects its own outputs. A reference that stands for one goes to the model as it is.
import { isToolResultFile } from "../client.js";

type Method = (...args: any[]) => unknown;

export function modelOutput(method: Method): Method {
  return (given, ...rest) => {
    const reference = referenceIn(given);
    return reference === undefined ? method(given, ...rest) : { type: "json", value: reference };
  };
}

/** AI SDK 5 gives the output itself, 6 and later `{ toolCallId, input, output }`. */
function referenceIn(given: unknown): unknown {
  if (isToolResultFile(given)) return given;
  if (typeof given !== "object" || given === null || !("toolCallId" in given) || !("output" in given)) return undefined;
  return isToolResultFile(given.output) ? given.output : undefined;
}
