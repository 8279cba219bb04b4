// The items of a plan, checked.
import type { Todo } from "../../tools.js";
import { HarnessFileError, describe } from "../errors.js";

export const STATUSES: readonly Todo["status"][] = ["pending", "in_progress", "completed", "cancelled"];
export const MAX_TODOS = 200;
export const MAX_CONTENT_LENGTH = 1000;

export function todosOf(value: unknown, tool: string, bytes: number): Todo[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_TODOS) {
    throw refused(`${tool}: todos must be an array of at most ${MAX_TODOS} items, not ${describe(value)}`);
  }
  const todos = value.map((item: unknown, at) => todoOf(item, `${tool}: todos[${at}]`));
  if (fitting(todos, bytes).length < todos.length)
    throw refused(`${tool}: todos have more than ${bytes} bytes; be brief`);
  return todos;
}

/** The first ones, as many as so many bytes of JSON hold. */
export function fitting(todos: readonly Todo[], bytes: number): readonly Todo[] {
  let room = bytes - 2;
  const end = todos.findIndex((todo) => (room -= Buffer.byteLength(JSON.stringify(todo)) + 1) < 0);
  return end < 0 ? todos : todos.slice(0, end);
}

function todoOf(item: unknown, name: string): Todo {
  const { content, status } = (typeof item === "object" && item !== null ? item : {}) as Partial<
    Record<keyof Todo, unknown>
  >;
  if (typeof content !== "string" || content.trim() === "" || content.length > MAX_CONTENT_LENGTH) {
    throw refused(`${name}.content must be text of 1 to ${MAX_CONTENT_LENGTH} characters`);
  }
  if (!STATUSES.includes(status as Todo["status"]))
    throw refused(`${name}.status must be one of ${STATUSES.join(", ")}`);
  return { content: content.toWellFormed(), status: status as Todo["status"] };
}

function refused(message: string): HarnessFileError {
  return new HarnessFileError("FS_INVALID_OPTION", message);
}
