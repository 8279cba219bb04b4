// The tool `todo_write`: the plan of the session.
import { Plans } from "../plan/plans.js";
import { STATUSES, fitting, todosOf } from "../plan/todos.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

export function todoWriteTool(kit: Kit): FileTool {
  const plans = new Plans(kit.planDir);
  return fileTool(kit, {
    name: "todo_write",
    description: [
      "Keeps the plan of this session. Give the whole list each time, in order; keep one item in_progress. Without items it shows",
      "the list.",
    ].join(" "),
    properties: {
      todos: {
        type: "array",
        description: "The whole list",
        items: {
          type: "object",
          properties: {
            content: { type: "string", description: "What is to be done" },
            status: { type: "string", enum: STATUSES },
          },
          required: ["content", "status"],
          additionalProperties: false,
        },
      },
    },
    required: [],
    run: async (input, call) => {
      const { bytes } = kit.limits;
      const todos = todosOf(input.value("todos"), kit.names.todo_write, bytes);
      return todos.length > 0 ? plans.replace(call, todos) : fitting(await plans.list(call), bytes);
    },
  });
}
