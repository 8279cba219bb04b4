// A plan as a Markdown file, and back.
import type { Todo } from "../../tools.js";
import { MAX_CONTENT_LENGTH, MAX_TODOS } from "./todos.js";

const MARKERS: Readonly<Record<Todo["status"], string>> = {
  pending: " ",
  in_progress: ">",
  completed: "x",
  cancelled: "-",
};
const STATUS_OF = new Map(Object.entries(MARKERS).map(([status, marker]) => [marker, status as Todo["status"]]));
const TASKS = "## Task List";

export function planFile(sessionId: string, updated: Date, todos: readonly Todo[]): string {
  const lines = todos.map(({ content, status }) => `- [${MARKERS[status]}] ${oneLine(content)}`);
  const head = ["# Execution Plan", "", `session: ${oneLine(sessionId)}`, `updated: ${updated.toISOString()}`];
  return [...head, "", TASKS, "", ...lines, ""].join("\n");
}

/** The items in a plan file, also one that was changed by hand, as editors write them; what is no item is passed over. */
export function todosIn(file: string): Todo[] {
  const todos: Todo[] = [];
  for (const [, marker = "", text = ""] of file
    .slice(Math.max(0, file.indexOf(TASKS)))
    .matchAll(/^[ \t]*[-*+] \[([ >xX-])\] (.+)$/gm)) {
    const status = STATUS_OF.get(marker.toLowerCase());
    if (status === undefined || todos.length === MAX_TODOS) continue;
    todos.push({ content: fromOneLine(text).slice(0, MAX_CONTENT_LENGTH).toWellFormed(), status });
  }
  return todos;
}

/** Line ends and control characters written out, so that an item stays one line; backslashes, so that it can be read back. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/\\/g, "\\\\")
    .replace(/\n/g, "\\n")
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function fromOneLine(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|([\\n]))/g, (_, hex: string | undefined, escaped: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return escaped === "n" ? "\n" : "\\";
  });
}
