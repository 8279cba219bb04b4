// Asks and tells the policy, if there is one. `fs/write-intent`, `fs/edit-intent` and `fs/observed` of the tools.
import type { FsTarget, FsVersion, FsWriteIntent, ObservationPolicy } from "../../tools.js";

let warned = false;

export class Observer {
  readonly #policy: ObservationPolicy | false;

  constructor(policy: ObservationPolicy | false) {
    this.#policy = policy;
  }

  /** undefined: whatever is there. What the policy throws is the refusal. */
  writeIntent(target: FsTarget, actor: object): FsWriteIntent | undefined {
    return this.#policy === false ? undefined : this.#policy.writeIntent(target, actor, () => undefined);
  }

  editIntent(target: FsTarget, actor: object): { version: FsVersion } | undefined {
    return this.#policy === false ? undefined : this.#policy.editIntent(target, actor, () => undefined);
  }

  present(target: FsTarget, version: string, actor: object): void {
    this.#tell(target, { present: version as FsVersion }, actor);
  }

  absent(target: FsTarget, actor: object): void {
    this.#tell(target, { absent: true }, actor);
  }

  /** A listener that throws must not make a finished write look failed, nor hide what a read found. */
  #tell(target: FsTarget, observation: { present: FsVersion } | { absent: true }, actor: object): void {
    if (this.#policy === false) return;
    try {
      this.#policy.observed(target, observation, actor);
    } catch (error) {
      if (warned) return;
      warned = true;
      process.emitWarning(`observed failed: ${String(error)}`, { code: "LITTLE_FILES_OBSERVED" });
    }
  }
}
