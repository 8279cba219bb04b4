// What a model sent, read field by field. What makes no sense is refused in words that it can act on.
import * as check from "../check.js";
import { HarnessFileError, describe } from "../errors.js";

export class Input {
  readonly #tool: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** Fields that the tool does not know are refused: leaving them out would do something else than was meant. */
  constructor(tool: string, input: unknown, known: readonly string[]) {
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      throw refused(`${tool} takes an object of ${known.join(", ")}, not ${describe(input)}`);
    }
    this.#fields = check.readOptions(input, (given) => ({ ...given }), `input of ${tool}`);
    const stranger = Object.keys(this.#fields).find((name) => !known.includes(name));
    if (stranger !== undefined) {
      throw refused(`${tool} takes no ${JSON.stringify(stranger.slice(0, 64))}, only ${known.join(", ")}`);
    }
    this.#tool = tool;
  }

  /** null is as good as absent: some models fill in everything. */
  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  value(name: string): unknown {
    return this.has(name) ? this.#fields[name] : undefined;
  }

  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value === "string") return value;
    throw this.wrong(name, "a string", value);
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  flag(name: string): boolean {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value ?? false;
    throw this.wrong(name, "true or false", value);
  }

  /** An integer from `least`; `most` is said, not silently taken instead. */
  count(name: string, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    const accepted =
      most === Number.MAX_SAFE_INTEGER ? `an integer of ${least} or more` : `an integer of ${least} to ${most}`;
    throw this.wrong(name, accepted, value);
  }

  /** At most one of these groups may be used. */
  exclude(group: readonly string[], other: readonly string[]): void {
    const one = group.find((name) => this.has(name));
    const two = other.find((name) => this.has(name));
    if (one !== undefined && two !== undefined)
      throw refused(`${this.#tool}: ${one} and ${two} exclude each other; leave one out`);
  }

  wrong(name: string, accepted: string, value: unknown): HarnessFileError {
    const given = typeof value === "number" ? String(value) : describe(value);
    return refused(`${this.#tool}: ${name} must be ${accepted}, not ${given}`);
  }
}

export function refused(message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_OPTION", message);
}
