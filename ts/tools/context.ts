// `harnessToolContext`: finds the turn that a tool is called in.
import type { HarnessToolContext } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { currentScope } from "./scope.js";

/** On the options of a call, and on each context itself so that it may be spread. Registered: copies of the package share it. */
const CONTEXT = Symbol.for("@little-stack/files.context");

type Context<T> = HarnessToolContext<T>;

const WIRING = `No turn: this tool was called outside of one, or its context was not handed on. Wrap the tools:
  const turn = await session.beginTurn();
  await generateText({ model, tools: turn.tools(tools), prompt });
  await turn.finish();
For tools that are not wrapped: turn.run(() => generateText(…)), or on AI SDK 5 and 6 experimental_context: { ...turn.context }.`;

export function harnessToolContext<T = unknown>(options?: unknown): Context<T> {
  const context = tryHarnessToolContext<T>(options);
  if (context === undefined) throw new HarnessFileError("FS_NO_CONTEXT", WIRING);
  return context;
}

export function tryHarnessToolContext<T = unknown>(options?: unknown): Context<T> | undefined {
  const context = onOptions(options) ?? currentScope()?.context;
  return context === undefined ? undefined : ofCall(context, options);
}

/** Our symbol on the options themselves, else on what the SDK hands on for its user. */
function onOptions(options: unknown): Context<any> | undefined {
  const { context, experimental_context: older } = members(options);
  return marked(options) ?? marked(context) ?? marked(older);
}

function marked(holder: unknown): Context<any> | undefined {
  const context = (members(holder) as { [CONTEXT]?: unknown })[CONTEXT];
  return members(context)["files"] === undefined ? undefined : (context as Context<any>);
}

/** The context with what the call itself says; without options nothing is said, so what is known stays. */
function ofCall<T>(context: Context<T>, options: unknown): Context<T> {
  if (typeof options !== "object" || options === null) return context;
  const { toolCallId: _id, abortSignal: _signal, ...rest } = context;
  const { toolCallId, abortSignal } = members(options);
  return withMark({
    ...rest,
    ...(typeof toolCallId === "string" && { toolCallId }),
    ...(isSignal(abortSignal) && { abortSignal }),
  });
}

/** What a tool finds in its options; the context of one call. */
export function passOn<T>(context: Context<T>, options: unknown): { context: Context<T>; options: object } {
  const mine = ofCall(context, options ?? {});
  return { context: mine, options: { ...(options as object | undefined), [CONTEXT]: mine } };
}

export function withMark<T>(context: Context<T>): Context<T> {
  return Object.assign(context, { [CONTEXT]: context });
}

function members(value: unknown): Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>) : {};
}

function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = members(value);
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
