// With the DOM library the global classes are the browser's.
import type { FileContent, FileWriter } from "@little-stack/files";

declare const files: FileWriter;
declare const input: HTMLInputElement;

export const contents: FileContent[] = [
  new File(["x"], "x.txt"),
  new ReadableStream<Uint8Array>(),
  new Blob(["x"]).stream(),
  new Response("x").body as ReadableStream<Uint8Array<ArrayBuffer>>,
  new CompressionStream("gzip").readable as ReadableStream<Uint8Array>,
];

export async function uploads(): Promise<Response> {
  for (const file of input.files ?? []) await files.write(`/session/${file.name}`, file);
  const stream = await files.readStream("/session/a");
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>);
}
