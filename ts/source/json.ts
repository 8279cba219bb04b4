// The text of a value as a source. Nothing of it is ever held but the batch.
import { ignore } from "../cancellation.js";
import type { Form } from "../json/form.js";
import { JsonText } from "../json/json-text.js";
import type { Pace } from "../pace.js";
import type { Batch, Filled, Source } from "./batch.js";

export class JsonSource implements Source {
  readonly #text: JsonText;
  readonly cancel = ignore;

  constructor(value: unknown, form?: Form) {
    this.#text = new JsonText(value, form);
  }

  fill(batch: Batch, pace: Pace): Filled {
    for (;;) {
      const filled = this.#text.into(batch);
      if (filled !== "pause" || pace.dueNow()) return filled;
    }
  }
}
