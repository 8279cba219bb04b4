// The entry "./tools". The contract is kept by hand in tools.d.ts; here the compiler proves that both agree.
export { readBeforeWrite } from "./file-system/read-before-write.js";
export { sessionFileSystem } from "./file-system/file-system.js";
export { fileTools } from "./file-tools/file-tools.js";
export { sandboxFiles } from "./sandbox/sandbox-files.js";
export { formatSize } from "./truncate/format-size.js";
export { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, truncateHead, truncateLine, truncateTail } from "./truncate/truncate.js";

type Contract = typeof import("../tools.js");
type Implementation = typeof import("./tools.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
