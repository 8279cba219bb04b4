// The hooks around a tool call, as an onion.
import type { HarnessToolContext, ToolCall, ToolHook } from "../../index.js";
import * as check from "../check.js";
import { HarnessFileError, describe } from "../errors.js";

type Context = HarnessToolContext<any>;

/** Their methods are called on the hooks themselves. */
export function hooksOption(options: check.Options): readonly ToolHook[] {
  const value = options["hooks"];
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw check.invalidOption("hooks", "an array", value);
  const hooks = [...(value as unknown[])];
  for (const [at, hook] of hooks.entries()) {
    const { before, after } = (typeof hook === "object" && hook !== null ? hook : { before: null }) as Record<string, unknown>;
    const known = [before, after].every((each) => each === undefined || typeof each === "function");
    if (!known) throw check.invalidOption(`hooks[${at}]`, "an object { before?, after? } of functions", hook);
  }
  return hooks as ToolHook[];
}

/** Gives the call that is to be made. What a hook throws, or its block, ends it. */
export async function before(hooks: readonly ToolHook[], call: ToolCall, context: Context): Promise<ToolCall> {
  let current = call;
  for (const hook of hooks) {
    const said: unknown = await hook.before?.(current, context);
    if (said === undefined || said === null) continue;
    if (typeof said === "object" && "block" in said && typeof said.block === "string") throw new Error(said.block);
    if (typeof said !== "object" || !("input" in said)) throw misunderstood(said);
    current = { ...current, input: said.input };
  }
  return current;
}

/** A block that is misspelt must not let the call through. */
function misunderstood(said: unknown): HarnessFileError {
  const message = `A before hook must give nothing, { block: string } or { input }, not ${describe(said)}`;
  return new HarnessFileError("FS_INVALID_OPTION", message);
}

/** Gives the result that is to be seen. undefined leaves the one there is. */
export async function after(
  hooks: readonly ToolHook[],
  call: ToolCall,
  result: unknown,
  context: Context,
): Promise<unknown> {
  let current = result;
  for (const hook of hooks.toReversed()) {
    const given = await hook.after?.(call, current, context);
    if (given !== undefined) current = given;
  }
  return current;
}
