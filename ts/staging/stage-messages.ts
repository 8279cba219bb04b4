// `session.stageMessages`: finds the messages with files, stages those that were not yet, and makes the model's copies.
import type { MessageLike, StagedFile, StagedMessages } from "../../index.js";
import { type Cancellation, settled } from "../cancellation.js";
import { HarnessFileError, toFileError, unwrap } from "../errors.js";
import type { NativeMessages } from "../native.js";
import { Queues } from "../queue.js";
import { inside, refuseInside } from "./inside.js";
import { filesIn, forModel } from "./message.js";
import { messageId } from "./message-id.js";
import { type Note, parseNote, stagedAway } from "./note.js";
import { type StagingOptions, checkMessages, stagingOptions } from "./options.js";
import { type Candidate, type StagingSession, stageMessage } from "./stage-message.js";

/** One call at a time for each session. */
const queues = new Queues();

export async function stageMessages<TExtraBody, M extends MessageLike>(
  place: StagingSession<TExtraBody>,
  messages: unknown,
  options: unknown,
): Promise<StagedMessages<M>> {
  const { core, key } = place;
  core.gate.enter();
  try {
    const given = stagingOptions<TExtraBody, M>(options);
    const list = checkMessages<M>(messages);
    refuseInside(key);
    return await core.cancellable(given.signal, async (cancellation) => {
      const candidates = await findCandidates(list, cancellation);
      const work = new Staging(place, given, candidates, cancellation);
      if (candidates.size > 0) await work.run();
      return work.result(list);
    });
  } catch (error) {
    throw toFileError(error);
  } finally {
    core.events.drain();
    core.gate.leave();
  }
}

/** The user's messages that hold files, by their place in the list. */
async function findCandidates<M extends MessageLike>(
  messages: readonly M[],
  cancellation: Cancellation | undefined,
): Promise<Map<number, Candidate<M>>> {
  const found = new Map<number, Candidate<M>>();
  for (const [at, message] of messages.entries()) {
    if (message.role !== "user") continue;
    cancellation?.check();
    try {
      const files = filesIn(message);
      if (files.length > 0) found.set(at, { message, id: await messageId(message), files });
    } catch (error) {
      if (error instanceof HarnessFileError) throw error;
      throw new HarnessFileError("FS_INVALID_OPTION", `messages[${at}] cannot be read`, { cause: error });
    }
  }
  return found;
}

class Staging<TExtraBody, M extends MessageLike> {
  readonly #place: StagingSession<TExtraBody>;
  readonly #options: StagingOptions<TExtraBody, M>;
  readonly #candidates: ReadonlyMap<number, Candidate<M>>;
  readonly #cancellation: Cancellation | undefined;
  /** Of the messages that are staged, by id. */
  readonly #notes = new Map<string, Note>();
  readonly #staged: StagedFile[] = [];

  constructor(
    place: StagingSession<TExtraBody>,
    options: StagingOptions<TExtraBody, M>,
    candidates: ReadonlyMap<number, Candidate<M>>,
    cancellation: Cancellation | undefined,
  ) {
    this.#place = place;
    this.#options = options;
    this.#candidates = candidates;
    this.#cancellation = cancellation;
  }

  /** Once the calls that came before are through. */
  async run(): Promise<void> {
    const { key } = this.#place;
    const { ready, leave } = queues.join(key);
    try {
      await (this.#cancellation === undefined ? ready : Promise.race([ready, this.#cancellation.aborted]));
      await inside(key, () => this.#runLocked());
    } finally {
      leave();
    }
  }

  async #runLocked(): Promise<void> {
    const { native } = this.#place.core;
    const lock = settled(await native.lockMessages(this.#cancellation?.native), this.#cancellation);
    try {
      await this.#stageAll(lock);
    } finally {
      lock.release();
    }
  }

  async #stageAll(lock: NativeMessages): Promise<void> {
    const ids = [...new Set([...this.#candidates.values()].map(({ id }) => id))];
    const before = unwrap(await lock.notes(ids));
    const known = new Map(ids.map((id, at) => [id, parseNote(before[at])]));
    for (const candidate of this.#candidates.values()) {
      const { id } = candidate;
      if (this.#notes.has(id)) continue; // the same message again
      const files = candidate.files.filter(
        ({ file }) => !(file instanceof URL) || this.#options.fetchFile !== undefined,
      );
      const note = known.get(id);
      if (files.length > 0 && (note === undefined || this.#options.restage)) {
        const done = await stageMessage(this.#place, { ...candidate, files }, this.#options, lock, this.#cancellation);
        this.#notes.set(id, done.note);
        this.#staged.push(...done.staged);
      } else if (note !== undefined) {
        this.#notes.set(id, note);
      }
    }
  }

  result(messages: readonly M[]): StagedMessages<M> {
    const notices: string[] = [];
    const copies = messages.map((message, at) => {
      const candidate = this.#candidates.get(at);
      const note = candidate && this.#notes.get(candidate.id);
      if (note === undefined) return message;
      if (note.notice !== "") notices.push(note.notice);
      return forModel(message, stagedAway(note, candidate?.files ?? []), note.notice);
    });
    return { messages: copies, staged: this.#staged, notices };
  }
}
