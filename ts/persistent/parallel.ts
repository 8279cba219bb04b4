// The same for many, some at once.

/** After a failure nothing more is begun; rejects with the first one when all that had begun is over. */
export async function forEach<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  async function worker(): Promise<void> {
    while (failure === undefined) {
      const { done, value } = rest.next();
      if (done === true) return;
      try {
        await work(value);
      } catch (error) {
        failure ??= { error };
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure !== undefined) throw (failure as { readonly error: unknown }).error;
}
