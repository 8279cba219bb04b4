// The plan of each session: the list in memory, and its file. The file is what is left after a restart, and what a person may
// have changed; without it the list goes on.
import { createHash } from "node:crypto";
import type { HarnessSession } from "../../index.js";
import type { Todo } from "../../tools.js";
import { HarnessFileError, nameOf, unwrap } from "../errors.js";
import type { Access } from "../file-system/access.js";
import { missing } from "../file-system/codes.js";
import type { PlanDir } from "../file-tools/options.js";
import { readHostFile, writeHostFile } from "./host-file.js";
import { planFile, todosIn } from "./plan-file.js";

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 120;
const HASH_DIGITS = 12;

interface Plan {
  todos: readonly Todo[];
  /** The file is not what the list is. */
  unsaved: boolean;
  /** One at a time. */
  last: Promise<unknown>;
}

/** Where a plan is kept, by whom. */
export interface Owner {
  readonly session: HarnessSession<any>;
  readonly access: Access;
}

export class Plans {
  readonly #dir: PlanDir;
  readonly #plans = new WeakMap<object, Plan>();

  constructor(dir: PlanDir) {
    this.#dir = dir;
  }

  list(owner: Owner): Promise<readonly Todo[]> {
    return this.#next(owner, async (plan) => {
      if (!plan.unsaved) {
        const file = await this.#read(owner).catch(() => undefined);
        if (file !== undefined) plan.todos = todosIn(file);
      }
      return plan.todos;
    });
  }

  /** The list counts also when its file cannot be written: that is told as an event. */
  replace(owner: Owner, todos: readonly Todo[]): Promise<readonly Todo[]> {
    return this.#next(owner, async (plan) => {
      plan.todos = todos;
      plan.unsaved = true;
      try {
        await this.#write(owner, planFile(owner.session.id, new Date(), todos));
        plan.unsaved = false;
      } catch (error) {
        if (error instanceof HarnessFileError && /^FS_(ABORTED|CLOSED)$/.test(error.code)) throw error;
        await this.#tell(owner, error);
      }
      return todos;
    });
  }

  #next<T>({ session }: Owner, work: (plan: Plan) => Promise<T>): Promise<T> {
    let plan = this.#plans.get(session);
    if (plan === undefined) {
      plan = { todos: [], unsaved: false, last: Promise.resolve() };
      this.#plans.set(session, plan);
    }
    const mine = plan;
    const result = mine.last.then(() => work(mine));
    mine.last = result.catch(() => undefined);
    return result;
  }

  async #read(owner: Owner): Promise<string | undefined> {
    if ("host" in this.#dir) return readHostFile(this.#dir.host, sharedName(owner), MAX_FILE_BYTES);
    const options = { maxBytes: MAX_FILE_BYTES, utf8: true };
    const path = pathIn(this.#dir.managed, owner);
    const file = await missing(
      owner.access.call("todo_write", path, undefined, (native, checked) => native.read(checked, options)),
    );
    return file && Buffer.from(file.content).toString();
  }

  async #write(owner: Owner, text: string): Promise<void> {
    if ("host" in this.#dir) await writeHostFile(this.#dir.host, sharedName(owner), text);
    else await owner.access.write(pathIn(this.#dir.managed, owner), text, {});
  }

  /** Without a path of the host, which the text of a foreign error may hold. */
  async #tell({ access }: Owner, error: unknown): Promise<void> {
    const { core, writer } = access;
    const failed =
      error instanceof HarnessFileError
        ? { code: error.code, message: error.message }
        : { code: "FS_IO_ERROR", message: `The plan could not be written (${nameOf(error)})` };
    await core.perform({ name: "todo_write", path: undefined }, async () => {
      unwrap(await core.native.emit("harness.plan.write_failed", JSON.stringify(failed), writer.turnId));
    });
  }
}

/** Only the session's own roots are its own. */
function pathIn(dir: string, owner: Owner): string {
  return `${dir}/${dir.startsWith("/persistent/") ? sharedName(owner) : `${nameOfSession(owner)}.md`}`;
}

function nameOfSession({ session, access }: Owner): string {
  return access.core.addon.portableName(session.id, MAX_NAME_BYTES);
}

/** Sessions of several data folders may share a folder, and names may differ in case only. */
function sharedName(owner: Owner): string {
  const place = unwrap(owner.access.core.native.hostPaths()).session;
  const hash = createHash("sha256").update(place).digest("hex").slice(0, HASH_DIGITS);
  return `${nameOfSession(owner)}-${hash}.md`;
}
