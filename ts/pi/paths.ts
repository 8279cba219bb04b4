// pi's paths: whole ones, joined ones, and where links lead.
import * as check from "../check.js";
import type { Access } from "../file-system/access.js";
import { sessionPath } from "../file-system/session-path.js";

/** As pi joins: relative parts stay relative. ".." is refused, as in every path here. */
export async function joinPath(access: Access, parts: unknown): Promise<string> {
  const joined = textsOf(parts)
    .filter((part) => part !== "")
    .join("/");
  const whole = await access.addressed("joinPath", sessionPath(joined));
  if (joined.startsWith("/")) return whole;
  const segments = joined.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.length === 0 ? "." : segments.join("/");
}

function textsOf(parts: unknown): string[] {
  if (Array.isArray(parts) && parts.every((part): part is string => typeof part === "string")) return parts;
  throw check.invalidOption("parts", "an array of strings", parts);
}

/** Where the links on the way lead, and the one at its end. What leads nowhere, or out of its root, fails as a read would. */
export async function canonicalPath(access: Access, path: string): Promise<string> {
  await access.version(path, true);
  return (await access.target("canonicalPath", path)).key;
}
