// The entry ".": what users import. The contract is kept by hand in index.d.ts; here the compiler proves that both agree.
export { HarnessFileError } from "./errors.js";
export { localHost } from "./host.js";
