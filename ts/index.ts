// The entry ".": what users import. The contract is kept by hand in index.d.ts; here the compiler proves that both agree.
import { createRequire } from "node:module";
import type { FileWriter, LocalHost, LocalHostOptions, OffloadOptions, ToolCall, ToolResultFile } from "../index.js";

export { isToolResultFile, toolResultFileSchema } from "./client.js";
export { HarnessFileError } from "./errors.js";
export { PersistentDirConflict } from "./persistent/conflict.js";
export { customDir, localDir, projectDir } from "./persistent/dirs.js";
export { harnessToolContext, tryHarnessToolContext } from "./tools/context.js";
export { offloadInstructions } from "./tools/instructions.js";

const require = createRequire(import.meta.url);

/** Loaded at the first call, like the addon: an import of all modules takes 28 ms, this one 4. */
function rest(): typeof import("./host.js") {
  return require("./host.js") as typeof import("./host.js");
}

export function localHost<TExtraBody = unknown>(options?: LocalHostOptions<TExtraBody>): LocalHost<TExtraBody> {
  return rest().localHost(options);
}

export async function offloadToolResult(
  files: FileWriter,
  call: ToolCall,
  result: unknown,
  options?: OffloadOptions,
): Promise<ToolResultFile | undefined> {
  return rest().offloadToolResult(files, call, result, options);
}

type Contract = typeof import("../index.js");
type Implementation = typeof import("./index.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
