// Puts a result that is too large for the model into a file, and a reference in its place.
import type { ToolCall, ToolResultFile } from "../../index.js";
import { isToolResultFile } from "../client.js";
import { HarnessFileError, toFailure, unwrap } from "../errors.js";
import type { Writer } from "../file-options.js";
import type { Form } from "../json/form.js";
import type { NativeOffloadOptions } from "../native.js";
import { type SessionCore, isRefusal } from "../session-core.js";
import type { Source } from "../source/batch.js";
import { asBytes } from "../source/bytes.js";
import { JsonSource } from "../source/json.js";
import { BytesSource, TextSource } from "../source/memory.js";
import { upload } from "../upload.js";
import { Budget } from "./budget.js";
import { sizeOfBytes } from "./bytes-size.js";
import { fileForm } from "./file-reference.js";
import { inlineForm } from "./inline-form.js";
import { isBytes, isFileData } from "./kinds.js";
import { NOT_JSON, OVER, measure } from "./measure.js";
import type { OffloadSettings } from "./offload-options.js";
import { shortened } from "./shortened.js";
import { stated, statedForm } from "./stated.js";
import { boundedError } from "./tool-error.js";

/** A result that costs no more stays: a reference may need as much. */
const MIN_REFERENCE_BYTES = 1024;
const MAX_SHOWN_BYTES = 1024 * 1024;

type Call = Pick<ToolCall, "toolName" | "toolCallId">;

/** What goes to the model: the very value if it may, and what it costs. */
type Measured = { readonly value: unknown; readonly size: number };

export class Offload {
  readonly #core: SessionCore;
  readonly #writer: Writer;
  readonly #settings: OffloadSettings;
  readonly #budget: Budget;

  constructor(core: SessionCore, writer: Writer, settings: OffloadSettings, budget = new Budget()) {
    this.#core = core;
    this.#writer = writer;
    this.#settings = settings;
    this.#budget = budget;
  }

  /** What the model gets for the result. The same object, whenever JSON can hold it and it is small enough. */
  async replace(call: ToolCall, result: unknown, signal?: AbortSignal): Promise<unknown> {
    const { maxInlineBytes, onOffloadError, only } = this.#settings;
    if (only?.(call, result) === false) return result;
    const { value, size } = await this.#measured(call, result, maxInlineBytes);
    if (size !== OVER && this.#stays(value, size)) {
      this.#budget.charge(size);
      return value;
    }
    try {
      // Shorter than what it stands for.
      return await this.#write(call, value, size === OVER ? maxInlineBytes : size - 1, signal);
    } catch (error) {
      if (onOffloadError === "fail" || !(error instanceof HarnessFileError) || error.code === "FS_ABORTED") throw error;
      await this.#told(error);
      return shortened(value, this.#form(call, 0), error, maxInlineBytes);
    }
  }

  /**
   * For a preliminary value, which is never offloaded: the value itself, unless JSON cannot hold it. Consumers write those
   * out as well. Larger ones are passed on unseen: looking would hold the loop.
   */
  async shown(call: ToolCall, value: unknown): Promise<unknown> {
    if (this.#settings.only !== undefined) return value;
    return (await this.#measured(call, value, MAX_SHOWN_BYTES)).value;
  }

  /** Outside of a turn: a reference, or undefined when the result may stay. */
  async reference(call: ToolCall, result: unknown): Promise<ToolResultFile | undefined> {
    if (this.#settings.only?.(call, result) === false) return undefined;
    const { value, size } = await this.#measured(call, result, this.#settings.maxInlineBytes);
    if (size === OVER) return this.#write(call, value, this.#settings.maxInlineBytes);
    return value !== result && isToolResultFile(value) ? value : undefined;
  }

  /** Of those that are small enough by themselves. */
  #stays(value: unknown, size: number): boolean {
    const { turnBudgetBytes } = this.#settings;
    return this.#budget.allows(size, turnBudgetBytes) || size <= MIN_REFERENCE_BYTES || isToolResultFile(value);
  }

  boundedError(error: unknown): unknown {
    return boundedError(error, this.#settings.maxInlineBytes);
  }

  async #measured(call: Call, result: unknown, limit: number): Promise<Measured> {
    const value = isFileData(result) ? fileForm(result, call, this.#settings) : stated(result);
    if (value === undefined) return { value, size: 0 };
    if (typeof value === "string") return { value, size: sizeOfText(value, limit) };
    if (typeof value === "object" && value !== null && isBytes(value))
      return { value, size: sizeOfBytes(value, limit) };
    const size = measure(value, limit);
    if (size !== NOT_JSON) return { value, size };
    return (await inlineForm(value, this.#form(call, 0), limit)) ?? { value, size: OVER };
  }

  #form(call: Call, compactFrom?: number): Form {
    return statedForm((data) => fileForm(data, call, this.#settings), compactFrom);
  }

  /** Writes the whole value and gives the reference to it, of at most `maxInlineBytes`. */
  #write(call: Call, value: unknown, maxInlineBytes: number, signal?: AbortSignal): Promise<ToolResultFile> {
    const core = this.#core;
    const operation = { name: "offload", path: undefined, source: () => this.#writer.source };
    return core.perform(operation, () =>
      core.cancellable(signal, async (cancellation) => {
        const { content, ...kind } = this.#content(call, value);
        const options = { ...this.#options(call), ...kind, maxInlineBytes };
        const native = unwrap(core.native.beginOffload(options, cancellation?.native));
        const { reference } = await upload(content, native, cancellation);
        return JSON.parse(reference) as ToolResultFile;
      }),
    );
  }

  #options({ toolName, toolCallId }: Call): Omit<NativeOffloadOptions, keyof Kind | "maxInlineBytes"> {
    const { source, turnId, origin } = this.#writer;
    const { outputDir, previewBytes } = this.#settings;
    return {
      outputDir,
      previewBytes,
      toolName: crossing(toolName),
      ...(toolCallId !== undefined && toolCallId !== "" && { toolCallId: crossing(toolCallId) }),
      source,
      origin: origin === "tool" ? "tool" : "host",
      ...(turnId !== undefined && { turnId }),
    };
  }

  #content(call: Call, value: unknown): Kind & { readonly content: Source } {
    if (typeof value === "string") {
      return { content: new TextSource(value), text: true, extension: "txt", mediaType: "text/plain" };
    }
    const bytes = asBytes(value);
    if (bytes !== undefined) {
      return { content: new BytesSource(bytes), text: false, extension: "bin", mediaType: "application/octet-stream" };
    }
    const content = new JsonSource(value, this.#form(call));
    return { content, text: true, extension: "json", mediaType: "application/json" };
  }

  /** Refusals were told when they came. */
  async #told(error: HarnessFileError): Promise<void> {
    if (isRefusal(error)) return;
    const { native, events, gate } = this.#core;
    if (gate.closed) return;
    await native.refused("offload", toFailure(error), this.#writer.source, this.#writer.turnId);
    events.drain();
  }
}

/** What a file is to be. */
type Kind = Pick<NativeOffloadOptions, "text" | "extension" | "mediaType">;

/** A string goes to the model as it is. */
function sizeOfText(text: string, limit: number): number {
  const size = text.length > limit ? text.length : Buffer.byteLength(text);
  return size > limit ? OVER : size;
}

/** Names come from models; what cannot cross as it is gets another name that nothing else has. */
function crossing(name: string): string {
  return name.isWellFormed() ? name : JSON.stringify(name);
}
