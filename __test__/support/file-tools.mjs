// The file tools inside a turn, called as an SDK calls them.
import assert from "node:assert/strict";
import { fileTools } from "@little-stack/files/tools";
import { HarnessFileError } from "@little-stack/files";
import { see } from "./observe.mjs";
import { withHost } from "./host.mjs";
import { begin } from "./turns.mjs";

/** Gives what `withHost` gives, `session` (a handle that is not watched), `turn`, `tools`, and `run(name, input)`. */
export async function withTools(t, options, hostOptions) {
  const h = await withHost(t, hostOptions);
  const session = await h.host.sessions.getOrCreate({ id: "test" });
  const turn = await begin(t, session);
  const tools = turn.tools(fileTools(options));
  let calls = 0;
  const run = async (name, input) => {
    const { execute } = tools[name];
    try {
      const result = await execute(input, { toolCallId: `call-${++calls}`, messages: [] });
      see("other", result);
      return result;
    } catch (error) {
      see("error", error);
      throw error;
    }
  };
  return { ...h, session, turn, tools, run };
}

/** Rejects with a HarnessFileError of the code, short, and with the next step. Gives the error. */
export async function refused(promise, code, message) {
  const error = await promise.then(
    (value) => assert.fail(`expected ${code}, but it gave ${JSON.stringify(value)?.slice(0, 300)}`),
    (rejected) => rejected,
  );
  assert.ok(error instanceof HarnessFileError, `not a HarnessFileError: ${error?.stack ?? error}`);
  assert.equal(error.code, code, error.message);
  assert.ok(error.message.startsWith(`[${code}] `), error.message);
  assert.ok(Buffer.byteLength(error.message) <= 2048);
  if (message !== undefined) assert.match(error.message, message);
  return error;
}

/** What a window says at its end, and the text before it. */
export function parted(result) {
  assert.equal(typeof result, "string", JSON.stringify(result)?.slice(0, 200));
  const at = result.lastIndexOf("\n\n");
  return at < 0 ? { text: "", status: result } : { text: result.slice(0, at), status: result.slice(at + 2) };
}

/** Reads a file window by window, as the ends of the windows say. */
export async function pages(run, input, next, most = 10_000) {
  const found = [];
  for (let more = {}; more !== undefined && found.length < most;) {
    const result = await run("read", { ...input, ...more });
    const page = parted(result);
    found.push({ ...page, bytes: Buffer.byteLength(result) });
    const said = new RegExp(`continue with ${next}: (\\d+)`).exec(page.status);
    more = said ? { [next]: Number(said[1]) } : undefined;
  }
  return found;
}
