// What is kept of a staged message: its notice, and which of its parts the model is not to see again. As JSON text.
import { HarnessFileError } from "../errors.js";
import type { PlacedFile } from "./message.js";
import { digest } from "./sample.js";

const MAX_BYTES = 64 * 1024;

/** Digests, since names and URLs may be long: of the name, and of the content where it was in the message itself. */
type NotedPart = readonly [name: string, sample: string | 0, kept: 0 | 1];

export interface Note {
  readonly notice: string;
  readonly parts: readonly NotedPart[];
}

export function noteOf(notice: string, files: readonly PlacedFile[], kept: readonly boolean[]): Note {
  return { notice, parts: files.map((file, at) => [nameOf(file), sampleOf(file), kept[at] === true ? 1 : 0]) };
}

export function noteText(note: Note): string {
  const text = JSON.stringify(note);
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  const message = "The message has too many files or too long a notice: what is kept of it is at most 64 KiB of JSON";
  throw new HarnessFileError("FS_INVALID_OPTION", message);
}

/** undefined for a text that is none of ours. */
export function parseNote(text: string | null | undefined): Note | undefined {
  if (text === null || text === undefined) return undefined;
  const { notice, parts } = JSON.parse(text) as Partial<Note>;
  return typeof notice === "string" && Array.isArray(parts) ? { notice, parts } : undefined;
}

/**
 * Those of the files that were staged and not kept. A file that came into the message later is not among them. One that has
 * moved out of the message to a URL is, as where an app stores uploads elsewhere.
 */
export function stagedAway(note: Note, files: readonly PlacedFile[]): PlacedFile[] {
  const left = [...note.parts];
  return files.filter((file) => {
    const [name, sample] = [nameOf(file), sampleOf(file)];
    const at = left.findIndex((noted) => noted[0] === name && (noted[1] === sample || noted[1] === 0 || sample === 0));
    const [noted] = at < 0 ? [] : left.splice(at, 1);
    return noted !== undefined && noted[2] === 0;
  });
}

function nameOf({ name, mediaType }: PlacedFile): string {
  return digest(name ?? `${mediaType}`);
}

function sampleOf({ file }: PlacedFile): string | 0 {
  return file instanceof URL ? 0 : file.sample;
}
