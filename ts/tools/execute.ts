// One call of a wrapped tool: context, hooks, offload. It stays as much as it can what the bare tool makes of it: at once where
// there is no `before` hook, an AsyncIterable where the tool gives one.
import type { HarnessToolContext, ToolCall, ToolHook, ToolLike } from "../../index.js";
import type { Gate } from "../gate.js";
import { passOn } from "./context.js";
import { type Results, drained, inContext, yielded } from "./generators.js";
import { after, before } from "./hooks.js";
import type { Offload } from "./offload.js";
import type { Inside } from "./wrap.js";

export interface Execution {
  readonly name: string;
  readonly tool: ToolLike;
  readonly hooks: readonly ToolHook[];
  readonly context: HarnessToolContext<any>;
  readonly gate: Gate;
  readonly inside: Inside;
  readonly offload?: Offload;
}

export function execute(execution: Execution, input: unknown, options: unknown): unknown {
  const { hooks, gate } = execution;
  try {
    gate.check();
  } catch (error) {
    return Promise.reject(error as Error);
  }
  const call = new Call(execution, input, options);
  if (hooks.length === 0 && execution.offload === undefined) return call.bare();
  if (hooks.every((hook) => hook.before === undefined)) return call.atOnce();
  return call.isGenerator() ? call.generated() : call.later();
}

class Call implements Results {
  readonly #execution: Execution;
  readonly #context: HarnessToolContext<any>;
  readonly #options: object;
  #call: ToolCall;

  constructor(execution: Execution, input: unknown, options: unknown) {
    const { context, options: passed } = passOn(execution.context, options);
    this.#execution = execution;
    this.#context = context;
    this.#options = passed;
    const { toolCallId } = context;
    this.#call = { toolName: execution.name, ...(toolCallId !== undefined && { toolCallId }), input };
  }

  /** Runs code of the tool, or of a hook, where the turn is found. */
  readonly inside = <R>(fn: () => R): R => this.#execution.inside(this.#context, fn);

  /** On the tool itself, as it is at the moment. */
  #start(): unknown {
    const { tool } = this.#execution;
    return this.inside((): unknown => tool.execute?.(this.#call.input, this.#options));
  }

  /** Nothing to add: what the tool gives is given on, synchronous or not. */
  bare(): unknown {
    const value = this.#start();
    return isAsyncIterable(value) ? inContext(value, this.inside) : value;
  }

  /** Without a `before` hook the tool starts at once, and shows whether it is a generator. */
  atOnce(): unknown {
    let value: unknown;
    try {
      value = this.#start();
    } catch (error) {
      return Promise.reject(this.bounded(error) as Error);
    }
    return isAsyncIterable(value) ? yielded(value, this) : this.#settled(value);
  }

  async #settled(value: unknown): Promise<unknown> {
    try {
      return await this.offloaded(await this.hooked(await value));
    } catch (error) {
      throw this.bounded(error);
    }
  }

  isGenerator(): boolean {
    const { tool } = this.#execution;
    return (
      tool.streaming === true || Object.prototype.toString.call(tool.execute) === "[object AsyncGeneratorFunction]"
    );
  }

  /** A generator, after the hooks. */
  async *generated(): AsyncGenerator<unknown, void> {
    let value: unknown;
    try {
      await this.#before();
      value = this.#start();
      if (!isAsyncIterable(value)) value = only(await value);
    } catch (error) {
      throw this.bounded(error);
    }
    yield* yielded(value as AsyncIterable<unknown>, this);
  }

  /** A tool that turns out to give an AsyncIterable is drained: it is too late to yield. */
  async later(): Promise<unknown> {
    try {
      await this.#before();
      const value = await this.#start();
      const result = isAsyncIterable(value) ? await drained(value, this.inside) : value;
      return await this.offloaded(await this.hooked(result));
    } catch (error) {
      throw this.bounded(error);
    }
  }

  async #before(): Promise<void> {
    const { hooks } = this.#execution;
    this.#call = await this.inside(() => before(hooks, this.#call, this.#context));
  }

  async shown(value: unknown): Promise<unknown> {
    const { offload } = this.#execution;
    return offload === undefined ? value : offload.shown(this.#call, value);
  }

  async hooked(result: unknown): Promise<unknown> {
    const { hooks } = this.#execution;
    return hooks.length === 0 ? result : this.inside(() => after(hooks, this.#call, result, this.#context));
  }

  async offloaded(result: unknown): Promise<unknown> {
    const { offload } = this.#execution;
    return offload === undefined ? result : offload.replace(this.#call, result, this.#context.abortSignal);
  }

  bounded(error: unknown): unknown {
    const { offload } = this.#execution;
    return offload === undefined ? error : offload.boundedError(error);
  }
}

async function* only(value: unknown): AsyncGenerator<unknown, void> {
  yield value;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function"
  );
}
