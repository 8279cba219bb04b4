// The tool `query`: JSONPath over a JSON or NDJSON file.
import type { NativeQueryMatch } from "../native.js";
import { PageText } from "./page-text.js";
import { STATUS_BYTES } from "./read-lines.js";
import { type FileTool, type Kit, fileTool } from "./tool.js";

const MAX_EXPRESSION_LENGTH = 4096;

export function queryTool(kit: Kit): FileTool {
  const { limits, names, observer } = kit;
  return fileTool(kit, {
    name: "query",
    description: [
      "Finds values in a JSON or NDJSON file by JSONPath (RFC 9535), such as \"$.rows[?@.status == 'failed'].id\"; in NDJSON $ is",
      `each line. Shows each match as \`path = value\`, at most ${limits.matches} and ${limits.bytes} bytes, and counts them all.`,
      `A value that is too long names the \`pointer\` to read it with ${names.read}.`,
    ].join(" "),
    properties: {
      file_path: { type: "string", description: "Absolute path of the file" },
      jsonpath: { type: "string", description: "JSONPath, starting with $" },
      limit: { type: "integer", minimum: 1, maximum: limits.matches, description: "Show at most so many matches" },
    },
    required: ["file_path", "jsonpath"],
    run: async (input, call) => {
      const path = input.text("file_path");
      const expression = input.text("jsonpath");
      if (expression.length > MAX_EXPRESSION_LENGTH || !expression.isWellFormed()) {
        throw input.wrong("jsonpath", `at most ${MAX_EXPRESSION_LENGTH} characters of text`, expression);
      }
      const maxBytes = limits.bytes - STATUS_BYTES;
      const limit = input.count("limit", 1, limits.matches) ?? limits.matches;
      const target = await call.target(path);
      const { version, total, matches } = await call.access.reading(
        "query",
        path,
        call.signal,
        (native, checked, cancellation) => native.query(checked, { expression, limit, maxBytes }, cancellation?.native),
      );
      observer.present(target, version, call.actor);
      if (total === 0) return "No match.";
      const page = new PageText(maxBytes);
      for (const match of matches) if (!page.add(line(match))) break;
      const shown = page.lines;
      const more = `narrow the JSONPath${shown < limits.matches && shown === limit ? `, or raise limit (at most ${limits.matches})` : ""}`;
      return page.ended(
        shown < total ? `Matches 1-${shown} of ${total}; to see others ${more}` : `All ${total} matches`,
      );
    },
  });
}

function line({ path, pointer, line: number, type, json, bytes }: NativeQueryMatch): string {
  const where = number === undefined ? path : `line ${number}: ${path}`;
  return `${where} = ${json ?? `(${type}, ${bytes} bytes; read pointer: ${JSON.stringify(pointer)})`}`;
}
