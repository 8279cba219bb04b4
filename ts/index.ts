// The entry ".": what users import. The contract is kept by hand in index.d.ts; here the compiler proves that both agree.
import { createRequire } from "node:module";
import type { LocalHost, LocalHostOptions } from "../index.js";

export { isToolResultFile, toolResultFileSchema } from "./client.js";
export { HarnessFileError } from "./errors.js";
export { harnessToolContext, tryHarnessToolContext } from "./tools/context.js";
export { offloadInstructions } from "./tools/instructions.js";
export { offloadToolResult } from "./tools/offload-result.js";

const require = createRequire(import.meta.url);

/** Loads the rest at the first call, like the addon: an import of all modules takes 28 ms, this one 4. */
export function localHost<TExtraBody = unknown>(options?: LocalHostOptions<TExtraBody>): LocalHost<TExtraBody> {
  const host = require("./host.js") as typeof import("./host.js");
  return host.localHost(options);
}

type Contract = typeof import("../index.js");
type Implementation = typeof import("./index.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
