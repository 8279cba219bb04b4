// The stated form of a value that JSON cannot hold, as a new plain value, if it is small enough to stay inline.
import type { Form } from "../json/form.js";
import { JsonText } from "../json/json-text.js";
import { Pace } from "../pace.js";
import { Batch } from "../source/batch.js";
import { MAX_DEPTH } from "./measure.js";

/** undefined when it takes more than `limit` bytes, or is too deep for those who get it. */
export async function inlineForm(
  value: unknown,
  form: Form,
  limit: number,
): Promise<{ value: unknown; size: number } | undefined> {
  const text = await statedText(value, form, limit);
  if (text === undefined || text.cut || text.deepest > MAX_DEPTH) return undefined;
  return { value: JSON.parse(text.bytes.toString()) as unknown, size: text.bytes.length };
}

/** The text of the value, or as much of it as was written when it went over the limit. */
export async function statedText(
  value: unknown,
  form: Form,
  limit: number,
): Promise<{ bytes: Buffer; cut: boolean; deepest: number }> {
  const text = new JsonText(value, form);
  const pace = new Pace();
  const batch = new Batch();
  const parts: Buffer[] = [];
  let size = 0;
  for (;;) {
    batch.length = 0;
    const filled = text.into(batch);
    size += batch.length;
    parts.push(Buffer.from(batch.filled));
    const over = size > limit;
    if (over || filled === "end") return { bytes: Buffer.concat(parts), cut: over, deepest: text.deepest };
    if (pace.dueNow()) await pace.turn();
  }
}
