// Asks and tells the policy, if there is one. `fs/write-intent`, `fs/edit-intent` and `fs/observed` of the tools.
import type { FsTarget, FsVersion, ObservationPolicy } from "../../tools.js";
import { HarnessFileError } from "../errors.js";
import type { Guard } from "../file-system/access.js";
import { guardOf, versionOf } from "../file-system/given.js";

let warned = false;

export class Observer {
  readonly #policy: ObservationPolicy | false;

  constructor(policy: ObservationPolicy | false) {
    this.#policy = policy;
  }

  /** Empty: whatever is there. What the policy throws is the refusal; what is no decision is refused, for it guards nothing. */
  async writeIntent(target: FsTarget, actor: object): Promise<Guard> {
    const policy = this.#policy;
    if (policy === false) return {};
    const intent: unknown = await decided(target, () => policy.writeIntent(target, actor, () => undefined));
    return guardOf(intent, "What writeIntent gives");
  }

  async editIntent(target: FsTarget, actor: object): Promise<{ version?: string }> {
    const policy = this.#policy;
    if (policy === false) return {};
    const intent: unknown = await decided(target, () => policy.editIntent(target, actor, () => undefined));
    const version = versionOf(intent, "What editIntent gives");
    return version === undefined ? {} : { version };
  }

  present(target: FsTarget, version: string, actor: object): void {
    this.#tell(target, { present: version as FsVersion }, actor);
  }

  absent(target: FsTarget, actor: object): void {
    this.#tell(target, { absent: true }, actor);
  }

  /** A listener that throws, or rejects, must not make a finished write look failed, nor hide what a read found. */
  #tell(target: FsTarget, observation: { present: FsVersion } | { absent: true }, actor: object): void {
    const policy = this.#policy;
    if (policy === false) return;
    const tell = async (): Promise<void> => policy.observed(target, observation, actor);
    tell().catch(warn);
  }
}

/** The words of a plain error are the policy's own, unlike those of a system call, which may name a path of the host. */
async function decided<T>({ displayPath }: FsTarget, decide: () => T): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    const own = error instanceof Error && !(error instanceof HarnessFileError) && !("syscall" in error);
    if (!own) throw error;
    throw new HarnessFileError("FS_SANDBOX_DENIED", error.message || "The policy refuses it", {
      path: displayPath,
      cause: error,
    });
  }
}

function warn(error: unknown): void {
  if (warned) return;
  warned = true;
  process.emitWarning(`observed failed: ${String(error)}`, { code: "LITTLE_FILES_OBSERVED" });
}
