// What is content, and what is not, whichever library the types of streams come from.
import { Blob as NodeBlob } from "node:buffer";
import { createReadStream, openAsBlob } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type Duplex, PassThrough, Readable } from "node:stream";
import { ReadableStream as NodeStream } from "node:stream/web";
import type { FileContent, FileWriter } from "@little-stack/files";

declare const files: FileWriter;
declare const request: IncomingMessage;
declare const duplex: Duplex;
declare const anything: unknown;

async function* bytesLater(): AsyncGenerator<Uint8Array> {}
async function* textLater(): AsyncGenerator<string> {}
async function* buffersLater(): AsyncGenerator<Buffer | string> {}
function* bytesNow(): Generator<Uint8Array> {}

export const contents: FileContent[] = [
  "text",
  new ArrayBuffer(1),
  new Uint8Array(1),
  new Uint16Array(1),
  new DataView(new ArrayBuffer(1)),
  Buffer.from("x"),
  new Blob(["x"]),
  new NodeBlob(["x"]),
  new Readable(),
  new PassThrough(),
  createReadStream("x"),
  Readable.from([new Uint8Array(1)]),
  request,
  duplex,
  bytesLater(),
  textLater(),
  buffersLater(),
  bytesNow(),
  [new Uint8Array(1), Buffer.from("x")],
  new Set([new Uint8Array(1)]),
  new NodeStream<Uint8Array>(),
  new ReadableStream<Uint8Array>(),
  new Blob(["x"]).stream(),
];

export async function writes(): Promise<void> {
  await files.write("/session/a", await openAsBlob("x"));
  for (const content of contents) await files.write("/session/a", content);
  const { body } = await fetch("http://localhost/");
  if (body !== null) await files.write("/session/a", body);
  // @ts-expect-error a response may have no body
  await files.write("/session/a", body ?? null);
  await files.write("/session/a", await files.readStream("/session/b"));
  await files.writeText("/session/a", "text", { source: "user-message" });
  await files.writeJSON("/session/a", anything);
  await files.writeJSON("/session/a", undefined);

  // @ts-expect-error a number is no content
  await files.write("/session/a", 7);
  // @ts-expect-error nor is nothing
  await files.write("/session/a", undefined);
  // @ts-expect-error nor is an object: writeJSON takes those
  await files.write("/session/a", { a: 1 });
  // @ts-expect-error nor are numbers
  await files.write("/session/a", [1, 2, 3]);
  // @ts-expect-error nor are strings in an array
  await files.write("/session/a", ["a", "b"]);
  // @ts-expect-error nor is a promise
  await files.write("/session/a", Promise.resolve("x"));
  // @ts-expect-error nor is a whole response
  await files.write("/session/a", new Response("x"));
  // @ts-expect-error text is a string
  await files.writeText("/session/a", Buffer.from("x"));
  // @ts-expect-error a path is a string
  await files.write(new URL("file:///session/a"), "x");
}
