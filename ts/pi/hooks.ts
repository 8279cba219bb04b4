// Handlers for pi's `tool_call` and `tool_result`.
import { setTimeout } from "node:timers/promises";
import type { HarnessToolContext } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { Access, filesOf } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";
import { readBeforeWrite } from "../file-system/read-before-write.js";
import { sessionPath } from "../file-system/session-path.js";
import type { FsTarget, FsVersion, FsWriteIntent } from "../../tools.js";
import type { NativeVersioned } from "../native.js";
import { isToolResultFile } from "../client.js";
import { DEFAULTS } from "../tools/offload-options.js";
import { Offload } from "../tools/offload.js";

const SETTLED_MS = 40;

type Event = Readonly<Record<string, unknown>>;
type Block = { block: true; reason: string };

const NEXT_STEP: Partial<Record<string, string>> = {
  FS_NOT_OBSERVED: "Read the file first, then retry.",
  FS_STALE_VERSION: "Read the file again, then retry.",
};

export function piHooks(context: HarnessToolContext<any>): {
  toolCall(event: unknown): Promise<Block | undefined>;
  toolResult(event: unknown): Promise<{ content: unknown[]; details?: unknown } | undefined>;
} {
  const hooks = new Hooks(context);
  return { toolCall: (event) => hooks.toolCall(event), toolResult: (event) => hooks.toolResult(event) };
}

class Hooks {
  readonly #context: HarnessToolContext<any>;
  readonly #access: Access;
  readonly #policy = readBeforeWrite();
  readonly #offload: Offload;

  constructor(context: HarnessToolContext<any>) {
    this.#context = context;
    this.#access = new Access(filesOf(context));
    const { core, writer } = this.#access;
    this.#offload = new Offload(core, writer, core.offload || DEFAULTS);
  }

  async toolCall(event: unknown): Promise<Block | undefined> {
    const { toolName, input } = fields(event);
    const { path: shorter, file_path: path = shorter } = fields(input);
    try {
      if (toolName === "read") await this.#noted(path).catch(() => undefined); // its own failure is the tool's to tell
      else if (toolName === "write" || toolName === "edit") await this.#guard(toolName, path);
      return undefined;
    } catch (error) {
      // pi takes a throw for a failure of the hook, so everything else is told as a block as well.
      return { block: true, reason: reasonOf(error) };
    }
  }

  /** What pi is about to read may be newer than what is noted: then a later write is stale, never blind. */
  async #noted(path: unknown): Promise<void> {
    const target = await this.#target(path);
    const found = await this.#settled(target);
    const observation = found === undefined ? ({ absent: true } as const) : { present: found.version as FsVersion };
    this.#policy.observed(target, observation, this.#context.session);
  }

  /**
   * Versions are compared as texts here: that of one file is always asked for by the same path, whatever links lead to it,
   * and that of a file changed by another program is final only a moment later.
   */
  async #settled({ targetKey }: FsTarget): Promise<NativeVersioned | undefined> {
    const found = await missing(this.#access.version(targetKey, true));
    if (found === undefined || Date.now() - found.updatedAt > SETTLED_MS) return found;
    await setTimeout(SETTLED_MS);
    return missing(this.#access.version(targetKey, true));
  }

  async #guard(toolName: "write" | "edit", path: unknown): Promise<void> {
    const target = await this.#target(path);
    const { session } = this.#context;
    const { displayPath } = target;
    const found = await this.#settled(target);
    if (found?.kind === "directory") {
      throw new HarnessFileError("FS_NOT_REGULAR_FILE", `Is a folder, not a file: ${displayPath}`, {
        path: displayPath,
      });
    }
    const intent: FsWriteIntent | undefined =
      toolName === "write"
        ? this.#policy.writeIntent(target, session, () => undefined)
        : replacing(this.#policy.editIntent(target, session, () => undefined));
    if (intent === undefined) return;
    if ("createIfAbsent" in intent) {
      if (found === undefined) return;
      throw new HarnessFileError("FS_NOT_OBSERVED", `${displayPath} has not been read yet`, { path: displayPath });
    }
    if (found?.version === intent.replaceIfVersion) return;
    throw new HarnessFileError("FS_STALE_VERSION", `${displayPath} has changed since it was read`, {
      path: displayPath,
    });
  }

  async #target(path: unknown): Promise<FsTarget> {
    const { key, path: displayPath } = await this.#access.target("tool_call", sessionPath(path));
    return { targetKey: key, displayPath };
  }

  async toolResult(event: unknown): Promise<{ content: unknown[]; details?: unknown } | undefined> {
    const { toolName, toolCallId, input, content, details, isError } = fields(event);
    if (isError === true || typeof toolName !== "string" || !Array.isArray(content)) return undefined;
    const { path: shorter, file_path: path = shorter } = fields(input);
    if (toolName === "write" || toolName === "edit") await this.#noted(path).catch(() => undefined);
    if (toolName === "read") return undefined;
    const parts = content as unknown[];
    const text = parts
      .map(textOf)
      .filter((each) => each !== undefined)
      .join("\n");
    const call = { toolName, input, ...(typeof toolCallId === "string" && { toolCallId }) };
    // A reference to its file, or its beginning where the host prefers that to a failure.
    const shown = await this.#offload.replace(call, text);
    if (shown === text) return undefined;
    const others = parts.filter((part) => textOf(part) === undefined);
    return {
      content: [{ type: "text", text: JSON.stringify(shown) }, ...others],
      details: isToolResultFile(shown) ? { ...fields(details), file: shown } : details,
    };
  }
}

function replacing(decided: { version: FsVersion } | undefined): FsWriteIntent | undefined {
  return decided && { replaceIfVersion: decided.version };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof HarnessFileError)) return String(error);
  const step = NEXT_STEP[error.code];
  return step === undefined ? error.message : `${error.message}. ${step}`;
}

function textOf(part: unknown): string | undefined {
  const { type, text } = fields(part);
  return type === "text" && typeof text === "string" ? text : undefined;
}

function fields(value: unknown): Event {
  return typeof value === "object" && value !== null ? (value as Event) : {};
}
