// The entry "./s3". The contract is kept by hand in s3.d.ts; here the compiler proves that both agree.
export { s3Dir } from "./s3/declare.js";

type Contract = typeof import("../s3.js");
type Implementation = typeof import("./s3.js");
type Proof<Wanted, Given extends Wanted> = [Wanted, Given];

/** Fails to compile when something of the contract is missing or of another type, or when more is exported than it says. */
export type ImplementsContract = Proof<Contract, Implementation> & Proof<keyof Implementation, keyof Contract>;
