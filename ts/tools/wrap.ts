// The tools of a turn: what they were, with an `execute` of ours.
import type { HarnessToolContext, ToolHook, ToolLike, TurnToolsOptions } from "../../index.js";
import * as check from "../check.js";
import type { Writer } from "../file-options.js";
import type { TurnCore } from "../turn/turn-core.js";
import { Budget } from "./budget.js";
import { type Execution, execute } from "./execute.js";
import { hooksOption } from "./hooks.js";
import { dressed } from "./dressed.js";
import { Offload } from "./offload.js";
import { type OffloadSettings, offloadOption } from "./offload-options.js";

export type Inside = <R>(context: HarnessToolContext<any>, fn: () => R) => R;

/** What one call of `tools` says. */
interface Plan {
  readonly hooks: readonly ToolHook[];
  readonly settings: OffloadSettings | false;
  readonly context: HarnessToolContext<any>;
}

export class ToolWrapper {
  readonly #core: TurnCore;
  readonly #writer: Writer;
  readonly #offload: OffloadSettings | false;
  readonly #inside: Inside;
  /** One for all tools of the turn. */
  readonly #budget = new Budget();

  constructor(core: TurnCore, writer: Writer, offload: OffloadSettings | false, inside: Inside) {
    this.#core = core;
    this.#writer = writer;
    this.#offload = offload;
    this.#inside = inside;
  }

  wrap<T extends Record<string, ToolLike>>(
    tools: T,
    options: TurnToolsOptions | undefined,
    context: HarnessToolContext<any>,
  ): T {
    if (typeof tools !== "object" || tools === null) throw check.invalidOption("tools", "an object of tools", tools);
    const plan = check.readOptions(options, (given) => ({
      hooks: hooksOption(given),
      settings: offloadOption(given, this.#offload),
      context,
    }));
    const wrapped = Object.entries(tools).map(([name, tool]) => [name, this.#wrap(name, tool, plan)] as const);
    return Object.fromEntries(wrapped) as T;
  }

  #wrap(name: string, tool: ToolLike, plan: Plan): ToolLike {
    if (typeof tool !== "object" || tool === null) throw check.invalidOption(`tools.${name}`, "a tool", tool);
    if (typeof tool.execute !== "function") return tool; // somebody else executes it
    const execution: Execution = {
      name,
      tool,
      hooks: plan.hooks,
      context: plan.context,
      gate: this.#core.gate,
      inside: this.#inside,
      ...this.#offloading(tool, plan.settings),
    };
    return dressed(
      tool,
      (input, options) => execute(execution, input, options),
      (fn) => this.#inside(plan.context, fn),
    );
  }

  #offloading(tool: ToolLike, settings: OffloadSettings | false): Pick<Execution, "offload"> {
    if (settings === false || tool.offload === false) return {};
    // Its own form for the model is left alone, unless the host picks the tool by name.
    const { toModelOutput, outputSchema } = tool as { toModelOutput?: unknown; outputSchema?: unknown };
    const own = toModelOutput !== undefined || outputSchema !== undefined;
    if (own && settings.only === undefined) return {};
    return { offload: new Offload(this.#core, this.#writer, settings, this.#budget) };
  }
}
