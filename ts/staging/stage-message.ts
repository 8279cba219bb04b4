// Stages the files of one message: brings them in, runs the hook, tells, and marks the message when all of it is on the disk.
import type { HarnessSession, MessageLike, StagedFile, StageMessageInput } from "../../index.js";
import type { Cancellation } from "../cancellation.js";
import { HarnessFileError, nameOf, unwrap } from "../errors.js";
import { fileWriter } from "../file-writer.js";
import type { NativeMessages } from "../native.js";
import type { SessionCore } from "../session-core.js";
import { defaultHook } from "./default-hook.js";
import { HookCore } from "./hook-core.js";
import { type Outcome, hookResult } from "./hook-result.js";
import { InputFiles } from "./input-files.js";
import type { PlacedFile } from "./message.js";
import { type Note, noteOf, noteText } from "./note.js";
import type { StagingOptions } from "./options.js";

const EVENT = "harness.file.staged_from_message";
const UPLOADS = "/session/user-input";
const MAX_FOLDER_BYTES = 120;

/** What staging needs to know of its session. */
export interface StagingSession<TExtraBody> {
  readonly session: HarnessSession<TExtraBody>;
  readonly core: SessionCore;
  /** The same for all handles of it in this process. */
  readonly key: string;
  /** For calls that are given none. */
  readonly extraBody: TExtraBody | undefined;
}

export interface Candidate<M extends MessageLike> {
  readonly message: M;
  readonly id: string;
  readonly files: readonly PlacedFile[];
}

export async function stageMessage<TExtraBody, M extends MessageLike>(
  place: StagingSession<TExtraBody>,
  candidate: Candidate<M>,
  options: StagingOptions<TExtraBody, M>,
  messages: NativeMessages,
  cancellation: Cancellation | undefined,
): Promise<{ note: Note; staged: StagedFile[] }> {
  const { core } = place;
  const outcome = await runHook(place, candidate, options, cancellation);
  cancellation?.check();
  const note = noteOf(outcome.notice, candidate.files, outcome.kept);
  const text = noteText(note);
  for (const file of outcome.staged) await tell(core, file, outcome.metadata);
  // The mark must not outlive the files.
  unwrap(await core.native.flush());
  unwrap(await messages.mark([candidate.id], [text]));
  return { note, staged: outcome.staged };
}

async function runHook<TExtraBody, M extends MessageLike>(
  { session, core, extraBody: fallback }: StagingSession<TExtraBody>,
  { message, id, files: parts }: Candidate<M>,
  { stageMessage: hook, fetchFile, extraBody = fallback, signal }: StagingOptions<TExtraBody, M>,
  cancellation: Cancellation | undefined,
): Promise<Outcome> {
  const inputs = new InputFiles();
  const hookCore = new HookCore(core, signal);
  let failure: HarnessFileError | undefined;
  try {
    for (const part of parts) {
      cancellation?.check();
      await inputs.add(part, fetchFile, cancellation);
    }
    const input: StageMessageInput<TExtraBody, M> = {
      message,
      inputFiles: inputs.files,
      files: fileWriter(hookCore, { source: "user-message", origin: "message" }),
      session,
      ...(extraBody !== undefined && { extraBody }),
      ...(signal !== undefined && { abortSignal: signal }),
    };
    const folder = `${UPLOADS}/${core.addon.portableName(id, MAX_FOLDER_BYTES)}`;
    const running = hook === undefined ? defaultHook(input, folder) : Promise.resolve(input).then(hook);
    const result = await (cancellation === undefined ? running : Promise.race([running, cancellation.aborted]));
    return hookResult(result, id, inputs.files);
  } catch (error) {
    failure = signal?.aborted === true && cancellation !== undefined ? cancellation.error() : coded(error);
    throw failure;
  } finally {
    await hookCore.end(failure);
    await inputs.cancelUnread(failure);
  }
}

/** What a callback throws comes out coded; its text may hold host paths, and is left to `cause`. */
function coded(error: unknown): HarnessFileError {
  if (error instanceof HarnessFileError) return error;
  return new HarnessFileError("FS_IO_ERROR", `The stageMessage hook failed (${nameOf(error)})`, { cause: error });
}

async function tell(core: SessionCore, file: StagedFile, metadata: string | undefined): Promise<void> {
  const { path, bytes, sha256, mediaType, messageId, originalName } = file;
  const fields = {
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) as unknown }),
    messageId,
    path,
    root: path.split("/")[1],
    source: "user-message",
    originalName,
    mediaType,
    bytes,
    sha256,
    after: { bytes, sha256 },
  };
  unwrap(await core.native.emit(EVENT, JSON.stringify(fields)));
  core.events.drain();
}
