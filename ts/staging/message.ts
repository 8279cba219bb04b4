// The places of a message where files are, and the copy of it that the model gets.
import type { MessageLike } from "../../index.js";
import { type FilePart, attachment, filePart } from "./file-part.js";

/** In which order they are looked at. */
const PLACES = { parts: filePart, content: filePart, experimental_attachments: attachment } as const;
/** Only a list that is no array: JSON may say that it has any length. */
const MAX_LIST = 4096;

type Place = keyof typeof PLACES;
type Fields = Partial<Record<Place, unknown>>;

export interface PlacedFile extends FilePart {
  readonly place: Place;
  readonly index: number;
}

export function filesIn(message: MessageLike): PlacedFile[] {
  const files: PlacedFile[] = [];
  for (const place of Object.keys(PLACES) as Place[]) {
    const items = listOf((message as Fields)[place]);
    for (const [index, item] of items?.entries() ?? []) {
      const file = PLACES[place](item);
      if (file !== undefined) files.push({ ...file, place, index });
    }
  }
  return files;
}

/** An array, or something like a FileList. */
function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (typeof value !== "object" || value === null) return undefined;
  const { length } = value as { length?: unknown };
  const isList = typeof length === "number" && length >= 0 && length <= MAX_LIST;
  return isList ? Array.from(value as ArrayLike<unknown>) : undefined;
}

/** The same message where nothing is to be taken out or put in. */
export function forModel<M extends MessageLike>(message: M, out: readonly PlacedFile[], notice: string): M {
  if (out.length === 0 && notice === "") return message;
  const copy: M & Fields = { ...message };
  for (const place of Object.keys(PLACES) as Place[]) {
    const gone = new Set(out.filter((file) => file.place === place).map(({ index }) => index));
    if (gone.size === 0) continue;
    const left = listOf(copy[place])?.filter((_, index) => !gone.has(index));
    if (place === "experimental_attachments" && left?.length === 0) delete copy[place];
    else Object.assign(copy, { [place]: left });
  }
  return notice === "" ? copy : withNotice(copy, notice);
}

function withNotice<M extends MessageLike>(copy: M, notice: string): M {
  const { parts, content } = copy;
  const part = { type: "text", text: notice };
  if (Array.isArray(parts)) Object.assign(copy, { parts: [...(parts as unknown[]), part] });
  else if (Array.isArray(content)) Object.assign(copy, { content: [...(content as unknown[]), part] });
  else if (typeof content !== "string") Object.assign(copy, { content: notice });
  // AI SDK 4 keeps the text of the parts here as well.
  if (typeof content === "string")
    Object.assign(copy, { content: content === "" ? notice : `${content}\n\n${notice}` });
  return copy;
}
