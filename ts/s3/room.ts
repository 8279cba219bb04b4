// Room for a bounded amount at once: of requests, or of bytes in memory.

export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: Array<{ readonly amount: number; readonly enter: () => void }> = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** First come, first served; more than there is room for gets all of it. Resolves with what gives the room back. */
  async enter(wanted: number): Promise<() => void> {
    const amount = Math.min(wanted, this.#size);
    if (this.#waiting.length > 0 || this.#taken + amount > this.#size) {
      await new Promise<void>((enter) => this.#waiting.push({ amount, enter }));
    } else {
      this.#taken += amount;
    }
    return () => this.#leave(amount);
  }

  async during<T>(wanted: number, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(wanted);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #leave(amount: number): void {
    this.#taken -= amount;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#taken + next.amount > this.#size) return;
      this.#waiting.shift();
      this.#taken += next.amount;
      next.enter();
    }
  }
}
