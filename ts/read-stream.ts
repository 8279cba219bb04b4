// A native reader as a WHATWG byte stream that reads only when it is pulled.
import type { ReadableByteStreamController } from "node:stream/web";
import { type Cancellation, settled } from "./cancellation.js";
import { located, toFileError } from "./errors.js";
import type { Gate } from "./gate.js";
import type { NativeRead } from "./native.js";

const MAX_READ_BYTES = 256 * 1024;

/** Ends the native reader and the signal's listener, whichever way it goes: both are the stream's from here on. */
export function readStream(native: NativeRead, gate: Gate, cancellation?: Cancellation): ReadableStream<Uint8Array> {
  let open = true;
  const forget = gate.onClosed(closer(native));
  const end = (): void => {
    open = false;
    forget();
    native.close();
    cancellation?.dispose();
  };
  const failed = (error: unknown): Error => {
    if (open) end();
    return located(toFileError(error), native.path);
  };

  async function next(room: number): ReturnType<NativeRead["next"]> {
    gate.enter();
    try {
      return await native.next(Math.min(room, MAX_READ_BYTES));
    } finally {
      gate.leave();
    }
  }

  async function pull(controller: ReadableByteStreamController): Promise<void> {
    try {
      const result = await next(controller.byobRequest?.view?.byteLength ?? MAX_READ_BYTES);
      if (!open) return native.close(); // cancelled or aborted meanwhile
      const chunk = settled(result, cancellation);
      if (chunk !== null) return give(controller, chunk);
    } catch (error) {
      throw failed(error);
    }
    end();
    controller.close();
    controller.byobRequest?.respond(0);
  }

  return new ReadableStream(
    {
      type: "bytes",
      start(controller) {
        cancellation?.aborted.catch((error: unknown) => controller.error(failed(error)));
      },
      pull,
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** Closes the file with its session. Held weakly: a stream that nobody holds any more need not wait for that. */
function closer(native: NativeRead): () => void {
  const held = new WeakRef(native);
  return () => held.deref()?.close();
}

/** Copied: memory that the addon allocated cannot be transferred, and a byte stream transfers what it gives. */
function give(controller: ReadableByteStreamController, chunk: Uint8Array): void {
  const request = controller.byobRequest;
  const view = request?.view;
  if (request && view && view.byteLength >= chunk.byteLength) {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(chunk);
    request.respond(chunk.byteLength);
  } else {
    controller.enqueue(new Uint8Array(chunk));
  }
}
