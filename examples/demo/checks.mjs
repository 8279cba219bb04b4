/** Counts what was compared and says at the end what differed. */
export class Checks {
  #made = 0;
  #failed = [];

  equal(what, found, wanted) {
    this.#made += 1;
    if (found !== wanted) this.#failed.push(`${what}:\n  found  ${found}\n  wanted ${wanted}`);
    return found === wanted;
  }

  /** Gives the exit code. */
  report() {
    if (this.#failed.length > 0) {
      console.log(`\n${this.#failed.length} of ${this.#made} checks failed:\n${this.#failed.join("\n")}`);
      return 1;
    }
    console.log(`\nAll ${this.#made} checks passed.`);
    return 0;
  }
}
