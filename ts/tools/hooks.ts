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
  const at = hooks.findIndex((hook) => !isHook(hook));
  if (at >= 0) throw check.invalidOption(`hooks[${at}]`, "an object { before?, after? } of functions", hooks[at]);
  return hooks as ToolHook[];
}

function isHook(value: unknown): value is ToolHook {
  if (typeof value !== "object" || value === null) return false;
  const hook = value as Partial<ToolHook>;
  return [hook.before, hook.after].every((layer) => layer === undefined || typeof layer === "function");
}

/** Gives the call that is to be made. What a hook throws, or its block, ends it. */
export async function before(hooks: readonly ToolHook[], call: ToolCall, context: Context): Promise<ToolCall> {
  let { input } = call;
  for (const hook of hooks) {
    const said: unknown = await hook.before?.({ ...call, input }, context);
    if (said === undefined || said === null) continue;
    if (typeof said === "object" && "block" in said && typeof said.block === "string") throw new Error(said.block);
    if (typeof said !== "object" || !("input" in said)) throw misunderstood(said);
    ({ input } = said);
  }
  return { ...call, input };
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
