// The options of `stageMessages`, checked.
import type { MessageLike, StageMessagesOptions } from "../../index.js";
import * as check from "../check.js";
import { HarnessFileError } from "../errors.js";

export interface StagingOptions<TExtraBody, M extends MessageLike> {
  readonly stageMessage: NonNullable<StageMessagesOptions<TExtraBody, M>["stageMessage"]> | undefined;
  readonly fetchFile: NonNullable<StageMessagesOptions<TExtraBody, M>["fetchFile"]> | undefined;
  readonly extraBody: TExtraBody | undefined;
  readonly restage: boolean;
  readonly signal: AbortSignal | undefined;
}

export function stagingOptions<TExtraBody, M extends MessageLike>(options: unknown): StagingOptions<TExtraBody, M> {
  return check.readOptions(options, (given) => ({
    stageMessage: callback(given, "stageMessage") as StagingOptions<TExtraBody, M>["stageMessage"],
    fetchFile: callback(given, "fetchFile") as StagingOptions<TExtraBody, M>["fetchFile"],
    extraBody: given["extraBody"] as TExtraBody | undefined,
    restage: check.flag(given, "restage"),
    signal: check.signal(given),
  }));
}

function callback(options: check.Options, name: string): unknown {
  const value = options[name];
  if (value === undefined || typeof value === "function") return value;
  throw check.invalidOption(name, "a function", value);
}

export function checkMessages<M extends MessageLike>(messages: unknown): readonly M[] {
  if (!Array.isArray(messages)) throw check.invalidOption("messages", "an array of messages", messages);
  for (const [at, message] of (messages as unknown[]).entries()) {
    const { role } = Object(message) as { role?: unknown };
    if (typeof role === "string") continue;
    throw new HarnessFileError("FS_INVALID_OPTION", `messages[${at}] is no message: it has no role`, {
      details: { option: "messages" },
    });
  }
  return messages as readonly M[];
}
