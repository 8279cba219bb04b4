// What the results of one turn may cost together.

export class Budget {
  #spent = 0;

  /** Whether so much more stays within `limit`. */
  allows(bytes: number, limit: number | undefined): boolean {
    return limit === undefined || this.#spent + bytes <= limit;
  }

  /** For a result that stays inline. */
  charge(bytes: number): void {
    this.#spent += bytes;
  }
}
