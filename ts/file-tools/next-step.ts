// What a model is told when a tool refuses: the error, and the next step, with the tools by the names that the model knows.
import type { FsErrorCode } from "../../index.js";
import { HarnessFileError } from "../errors.js";
import { withText } from "../file-system/codes.js";
import type { Names } from "./options.js";

export type Steps = Partial<Record<FsErrorCode, (names: Names) => string>>;

const STEPS: Steps = {
  FS_NOT_OBSERVED: ({ read }) => `Read the file with ${read} first, then retry.`,
  FS_STALE_VERSION: ({ read }) => `Whatever it is now, read it again with ${read}, then retry.`,
  FS_EDIT_NOT_FOUND: ({ read }) =>
    `Read the place with ${read} and copy old_string from it exactly, spaces and line ends too.`,
  FS_AMBIGUOUS_EDIT: () => "Put more of the lines around it into old_string, or set replace_all to true.",
  FS_NOT_FOUND: ({ list, glob }) => `Look with ${list} or ${glob} for what there is.`,
  FS_NOT_DIRECTORY: ({ read }) => `It is a file: use ${read}, or name its folder.`,
  FS_NOT_REGULAR_FILE: ({ list }) => `Name a file; ${list} shows what is in a folder.`,
  FS_INVALID_PATH: () => "A path is like /session/notes.md.",
  FS_PERMISSION_DENIED: () => "Use another path.",
  FS_NO_SPACE: ({ remove }) => `Write less, or remove what is not needed with ${remove}.`,
  FS_QUOTA_EXCEEDED: ({ remove }) => `Write less, or remove what is not needed with ${remove}.`,
  FS_BUSY: () => "Try again.",
};

/** Of FS_SANDBOX_DENIED. What lies outside of the roots says itself where it may be. */
const DENIED: Partial<Record<NonNullable<HarnessFileError["reason"]>, string>> = {
  symlink: "Name the file itself, not a link.",
  root: "Name a file or folder in it.",
  read_only: "Write below /session or /artifacts instead.",
};

/** What the error itself says to do, in general words: the step comes in its place. */
const GENERAL: Partial<Record<FsErrorCode, RegExp>> = {
  FS_STALE_VERSION: /Read it again, then retry\./,
  FS_EDIT_NOT_FOUND: /Read the file and give its text exactly\./,
  FS_NOT_REGULAR_FILE: /Pass recursive: true to remove it with all that is in it\./,
  FS_AMBIGUOUS_EDIT: /Give more of the text around the one you mean, or replace all\./,
};

/** Errors whose text says the next step already. */
const finals = new WeakSet<HarnessFileError>();

export function final(error: HarnessFileError): HarnessFileError {
  finals.add(error);
  return error;
}

/** Of the tool that was called; its own steps come first. */
export function withNextStep(error: unknown, names: Names, own: Steps = {}): unknown {
  if (!(error instanceof HarnessFileError) || finals.has(error)) return error;
  const step = stepOf(error, names, own);
  if (step === undefined) return error;
  const general = GENERAL[error.code];
  const said = general?.test(error.message)
    ? error.message.replace(general, () => step)
    : `${error.message.replace(/[.\s]+$/, "")}. ${step}`;
  return withText(error, said);
}

function stepOf({ code, reason, message }: HarnessFileError, names: Names, own: Steps): string | undefined {
  if (code === "FS_SANDBOX_DENIED") return reason && DENIED[reason];
  // A link is neither read nor listed away: where it is no refusal, the error says what to do.
  if (reason === "symlink" || (code === "FS_INVALID_PATH" && message.includes("/session/notes.md"))) return undefined;
  return (own[code] ?? STEPS[code])?.(names);
}
