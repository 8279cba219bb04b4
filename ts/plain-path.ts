// Paths in options: held to the grammar at once, so that a mistake shows before the path is used.

/** Without what the grammar drops; undefined for what it refuses, and for what is in none of the roots, where some are named. */
export function plainPath(path: string, roots?: readonly string[]): string | undefined {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  const plain = path.startsWith("/") && !/[\\\u0000-\u001f\u007f-\u009f]/.test(path) && !segments.includes("..");
  const inside = roots === undefined || roots.includes(segments[0] ?? "");
  return plain && inside && path.isWellFormed() ? `/${segments.join("/")}` : undefined;
}
