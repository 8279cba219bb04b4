// What other programs, such as a shell, changed under the roots while something ran.
import type { FileChange } from "../../index.js";
import { ignore } from "../cancellation.js";
import * as check from "../check.js";
import { unwrap } from "../errors.js";
import { fileChange } from "../facts.js";
import type { NativeSnapshot } from "../native.js";
import { allPages, mapped } from "../pace.js";
import type { TurnCore } from "./turn-core.js";

const OPERATION = { name: "track", path: undefined };

export async function track<R>(
  core: TurnCore,
  fn: () => Promise<R>,
  options: unknown,
): Promise<{ result: R; changes: FileChange[] }> {
  let source = "tool";
  const snapshot = await core.perform(OPERATION, async () => {
    source = check.readOptions(options, (given) => check.label(given, "source", 256)) ?? source;
    return unwrap(await core.native.snapshot());
  });
  let result: R;
  try {
    result = await fn(); // outside of `perform`: the turn may end meanwhile without waiting for it
  } catch (error) {
    await changes(core, snapshot, source).catch(ignore); // events come all the same
    throw error;
  }
  return { result, changes: await changes(core, snapshot, source) };
}

function changes(core: TurnCore, snapshot: NativeSnapshot, source: string): Promise<FileChange[]> {
  return core.perform(OPERATION, async () => {
    unwrap(await core.native.changesSince(snapshot, source, core.turnId));
    return mapped(await allPages(() => snapshot.take()), fileChange);
  });
}
