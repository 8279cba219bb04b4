// Options and results of the FileWriter.
import type { ArtifactRef, FileData, FileEntry, FileRef, FileWriter, WriteFileOptions } from "@little-stack/files";
import { same } from "./expect.js";

declare const files: FileWriter;
declare const anySource: string;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export async function results(): Promise<void> {
  const ref = await files.write("/session/a", "x");
  same<typeof ref, FileRef>();
  same<FileRef["mediaType"], string | undefined>();
  same<FileRef["artifact"], ArtifactRef | undefined>();
  // A ref is JSON, apart from metadata, whose values nobody knows.
  const { artifact, ...plain } = ref;
  const json: Json = { ...plain, mediaType: plain.mediaType ?? null };
  void [json, artifact];

  const data = await files.read("/session/a", { encoding: "utf8", range: { start: 0, end: 5 }, maxBytes: 10 });
  same<typeof data, FileData>();
  same<ReturnType<typeof data.text>, string>();
  same<typeof data.content, Uint8Array>();
  const unknown = data.json();
  same<typeof unknown, unknown>();
  const typed = data.json<{ a: number }>();
  same<typeof typed, { a: number }>();

  const [entry] = await files.list("/session", { recursive: true, pattern: "**/*.md", limit: 10, after: "/session/a" });
  same<typeof entry, FileEntry | undefined>();
  same<FileEntry["updatedAt"], Date | undefined>();
  if (entry?.kind === "symlink") void entry.path;
  // @ts-expect-error there is no such kind
  if (entry?.kind === "link") void entry.path;

  const stream = await files.readStream("/session/a", { range: { end: 5 } });
  for await (const chunk of stream) same<typeof chunk extends Uint8Array ? true : false, true>();
  same<Awaited<ReturnType<typeof files.remove>>, void>();
}

export async function options(signal: AbortSignal): Promise<void> {
  const all: WriteFileOptions = {
    mediaType: "text/plain",
    source: anySource,
    metadata: { any: { thing: [1] } },
    artifact: { name: "Report", metadata: { page: 1 } },
    ifMatch: "0".repeat(64),
    ifNoneMatch: "*",
    signal,
  };
  await files.write("/session/a", "x", all);
  await files.write("/session/a", "x", { artifact: true });
  await files.remove("/session/a", { recursive: true, force: true, ifMatch: "0".repeat(64), signal });
  // @ts-expect-error only "*"
  await files.write("/session/a", "x", { ifNoneMatch: "abc" });
  // @ts-expect-error no such encoding
  await files.read("/session/a", { encoding: "latin1" });
  // @ts-expect-error a range is an object
  await files.read("/session/a", { range: [0, 5] });
  // @ts-expect-error we say signal
  await files.read("/session/a", { abortSignal: signal });
  // @ts-expect-error a number
  await files.list("/session", { limit: "10" });
  // @ts-expect-error an object
  await files.write("/session/a", "x", { metadata: "text" });
}
