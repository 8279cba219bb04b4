// What all the tools have in common: they find their turn, read their input, and say the next step when they refuse.
import type { HarnessSession, ToolLike } from "../../index.js";
import type { FileToolName, FsTarget } from "../../tools.js";
import { Access } from "../file-system/access.js";
import { harnessToolContext } from "../tools/context.js";
import { cutText } from "../tools/cut-text.js";
import { Input } from "./input.js";
import { type Steps, withNextStep } from "./next-step.js";
import type { Observer } from "./observer.js";
import type { Limits, Names, PlanDir } from "./options.js";
import { type Property, inputSchema, objectSchema } from "./schema.js";

/** What the tools of one `fileTools` share. */
export interface Kit {
  readonly limits: Limits;
  readonly names: Names;
  readonly observer: Observer;
  /** What a model has to know of the policy, if there is one. */
  readonly guardText: string;
  readonly planDir: PlanDir;
}

/** One call, inside a turn. */
export class Call {
  readonly session: HarnessSession<any>;
  readonly access: Access;
  readonly signal: AbortSignal | undefined;
  readonly #name: string;

  constructor(name: FileToolName, options: unknown) {
    const { session, files, abortSignal } = harnessToolContext(options);
    this.#name = name;
    this.session = session;
    this.access = new Access(files);
    this.signal = abortSignal;
  }

  /** Whose view of the files it is. */
  get actor(): object {
    return this.session;
  }

  async target(path: string): Promise<FsTarget> {
    const { key, path: displayPath } = await this.access.target(this.#name, path);
    return { targetKey: key, displayPath };
  }

  /** What a policy refuses is told like other refusals. */
  decided<T extends object>(path: string, decide: () => Promise<T>): Promise<T> {
    return this.access.call(this.#name, path, undefined, decide);
  }
}

export interface Definition {
  readonly name: FileToolName;
  readonly description: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  readonly steps?: Steps;
  run(input: Input, call: Call): Promise<unknown>;
}

export interface FileTool extends ToolLike {
  readonly description: string;
  readonly inputSchema: object;
  readonly execute: (input: unknown, options: unknown) => Promise<unknown>;
  /** Its results are bounded by themselves. */
  readonly offload: false;
}

export function fileTool(kit: Kit, definition: Definition): FileTool {
  const { name, description, properties, required, steps, run } = definition;
  const known = Object.keys(properties);
  return {
    description,
    inputSchema: inputSchema(objectSchema(properties, required)),
    offload: false,
    execute: async (input, options) => {
      try {
        const call = new Call(name, options);
        const result = await run(new Input(kit.names[name], input ?? {}, known), call);
        // Each keeps to its own bound; a path alone can be longer than a small one.
        return typeof result === "string" ? cutText(result, kit.limits.bytes) : result;
      } catch (error) {
        throw withNextStep(error, kit.names, steps);
      }
    },
  };
}
