// A program that uses one session with one Persistent Dir, told what to do line by line; it can be killed at any moment.
import { startChild } from "../process.mjs";

/**
 * Starts children/persisting.mjs on this store. `ask(command)` gives the reply's value, or throws what it failed with
 * ({ code, message }); `tell(command)` does not wait for the reply. `end()` closes the host and waits for the end.
 */
export function startActor(t, { dataDir, store, id = "test", user, commit, byUser, options }) {
  const setup = { dataDir, id, user, store: store.spec, commit, byUser, options };
  const child = startChild(t, "persisting", [JSON.stringify(setup)]);
  let count = 0;
  const tell = (command) => {
    child.send(JSON.stringify(command));
    return count++;
  };
  const ask = async (command) => {
    const line = await child.line(`{"reply":${tell(command)},`);
    const { value, failure } = JSON.parse(line);
    if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
    return value;
  };
  const end = async () => {
    tell({ op: "end" });
    return child.ended;
  };
  return { ...child, ask, tell, end };
}
