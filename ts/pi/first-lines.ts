// The first lines of a file, without their ends; no more of it is read.
import type { FileWriter } from "../../index.js";

export async function firstLines(files: FileWriter, path: string, maxLines: number): Promise<string[]> {
  const lines: string[] = [];
  if (maxLines === 0) return lines;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  for await (const chunk of await files.readStream(path)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      lines.push(withoutReturn(part));
      if (lines.length === maxLines) return lines;
    }
  }
  rest += decoder.decode();
  if (rest !== "") lines.push(withoutReturn(rest));
  return lines;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
