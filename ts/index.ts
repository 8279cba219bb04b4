// The entry ".": what users import. The contract is kept by hand in index.d.ts; here the compiler proves that both agree.
export { HarnessFileError } from "./errors.js";
export { localHost } from "./host.js";

type Contract = typeof import("../index.js");
type Implementation = typeof import("./index.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
