// The first lines of a file, without their ends; no more of it is read.
import type { FileWriter } from "../../index.js";

export async function firstLines(
  files: FileWriter,
  path: string,
  maxLines: number,
  signal: { signal?: AbortSignal },
): Promise<string[]> {
  const lines: string[] = [];
  if (maxLines === 0) return lines;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // The pieces of a long line are joined once, at its end. A CR stays with what follows: an LF may be next.
  let open: string[] = [];
  let held = "";
  for await (const chunk of await files.readStream(path, signal)) {
    const text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith("\r") ? "\r" : "";
    const [first = "", ...others] = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    open.push(first);
    for (const next of others) {
      lines.push(open.join(""));
      if (lines.length === maxLines) return lines;
      open = [next];
    }
  }
  const last = open.join("") + decoder.decode();
  if (last !== "" || held !== "") lines.push(last);
  return lines;
}
