// The entry "./pi". The contract is kept by hand in pi.d.ts; here the compiler proves that both agree.
export { piExecutionFiles } from "./pi/execution-files.js";
export { piHooks } from "./pi/hooks.js";

type Contract = typeof import("../pi.js");
type Implementation = typeof import("./pi.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
