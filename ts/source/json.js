// The text of a value as a source. Nothing of it is ever held but the batch.
import { ignore } from "../cancellation.js";
import { JsonText } from "../json/json-text.js";
export class JsonSource {
    #text;
    cancel = ignore;
    constructor(value) {
        this.#text = new JsonText(value);
    }
    fill(batch, pace) {
        for (;;) {
            const filled = this.#text.into(batch);
            if (filled !== "pause" || pace.dueNow())
                return filled;
        }
    }
}
