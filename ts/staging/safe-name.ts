// Names for files that people sent: portable on every system, close to the name they gave, one for each file.

const MAX_BYTES = 120;
const MAX_EXTENSION_BYTES = 24;
const FALLBACK = "file";
/** Of a longer name the beginning and the end are looked at. */
const MAX_LENGTH = 1024;

/** Seen by nobody, and able to turn the order of what is seen around. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const SEPARATORS = /[/\\:]/;
const EXTENSION = /\.([\p{L}\p{M}\p{N}]+)$/u;
const NOT_KEPT = /[^\p{L}\p{M}\p{N}._-]+/gu;
/** What a name does not begin with: a dot hides a file, a hyphen makes it an option. */
const BEFORE = /^[^\p{L}\p{M}\p{N}_]+/u;
const AFTER = /[^\p{L}\p{M}\p{N}_]+$/u;
/** With any extension, Windows gives these to devices. */
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;

interface Parts {
  readonly stem: string;
  /** With its dot, or empty. */
  readonly extension: string;
}

/** The names of one folder. */
export class SafeNames {
  /** How often each name was asked for. */
  readonly #asked = new Map<string, number>();
  readonly #taken = new Set<string>();

  /** A name like this one that none has yet, also where upper and lower case are the same. */
  take(name: string): string {
    const parts = partsOf(name);
    const first = join(parts, "");
    let number = this.#asked.get(keyOf(first)) ?? 1;
    let taken = number === 1 ? first : join(parts, `-${number}`);
    while (this.#taken.has(keyOf(taken))) taken = join(parts, `-${++number}`);
    this.#asked.set(keyOf(first), number + 1);
    this.#taken.add(keyOf(taken));
    return taken;
  }
}

function partsOf(name: string): Parts {
  const short = name.length > MAX_LENGTH ? name.slice(0, MAX_LENGTH / 2) + name.slice(-MAX_LENGTH / 2) : name;
  const whole = short
    .toWellFormed()
    .replace(INVISIBLE, "")
    .normalize("NFC")
    .split(SEPARATORS)
    .filter((segment) => !/^[\s.]*$/u.test(segment))
    .join("_")
    .replace(AFTER, "");
  const extension = extensionOf(whole);
  const stem = whole
    .slice(0, whole.length - extension.length)
    .replace(BEFORE, "")
    .replace(AFTER, "")
    .replace(NOT_KEPT, "_");
  return { stem: stem === "" ? FALLBACK : stem, extension };
}

/** A name that is nothing but an extension (".env") has none. */
function extensionOf(name: string): string {
  const found = EXTENSION.exec(name);
  if (found === null || found.index === 0 || Buffer.byteLength(found[0]) > MAX_EXTENSION_BYTES) return "";
  return found[0];
}

function join({ stem, extension }: Parts, suffix: string): string {
  const room = MAX_BYTES - Buffer.byteLength(suffix) - Buffer.byteLength(extension);
  const name = cut(stem, room) + suffix + extension;
  // Looked at when it is cut: that alone can make a device's name.
  return DEVICE.test(name) ? cut(`_${stem}`, room) + suffix + extension : name;
}

/** To at most so many bytes, on a whole character. What is left may end as no name may. */
function cut(stem: string, maxBytes: number): string {
  if (Buffer.byteLength(stem) <= maxBytes) return stem;
  const { read } = new TextEncoder().encodeInto(stem, new Uint8Array(maxBytes));
  return stem.slice(0, read).replace(AFTER, "");
}

/** Equal for names that some file system takes for one; for a few more as well, which then get a number for nothing. */
function keyOf(name: string): string {
  return name.toLowerCase().toUpperCase();
}
