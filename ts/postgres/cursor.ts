// How far a session has seen its scope.

export interface Cursor {
  /** Of the scope's row, which is made anew when somebody removed it; null while there is none. */
  readonly id: string | null;
  /** Numbers grow inside the scope's lock only: who sees one sees all that are lower. */
  readonly change: number;
}

/** undefined for what is none of ours, such as that of another store which stood here before. */
export function cursorOf(value: unknown): Cursor | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { id, change } = value as Partial<Cursor>;
  if ((id !== null && typeof id !== "string") || !Number.isSafeInteger(change)) return undefined;
  return { id, change: change as number };
}
