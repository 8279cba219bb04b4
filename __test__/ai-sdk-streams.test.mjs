// Streamed responses on AI SDK 5, 6 and 7: whichever way one ends, its turn ends, and the next one starts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { harnessToolContext } from "@little-stack/files";
import { z } from "zod";
import { scripted, untilDone, versions } from "./support/ai-sdk.mjs";
import { withHost } from "./support/host.mjs";
import { begin, bytesOf, deferred, nextTurnStarts } from "./support/turns.mjs";

const empty = z.object({});

for (const version of versions) {
  const { name, sdk } = version;
  const { tool, streamText } = sdk;

  const readAll = (stream) =>
    (async () => {
      for await (const _ of stream.fullStream);
    })().catch(() => {});
  const ends = {
    "cancelled by the client": async ({ stream, controller, saved }) => {
      const reader = stream.toUIMessageStreamResponse().body.getReader();
      const reading = (async () => {
        while (!(await reader.read()).done);
      })();
      await saved.promise;
      await reader.cancel();
      await reading;
      controller.abort(new Error("the client went away")); // what a server's request signal does
    },
    "never read": async ({ controller }) => {
      await sleep(20);
      controller.abort(new Error("nobody reads"));
    },
    aborted: async ({ stream, controller, saved }) => {
      const reading = readAll(stream);
      await saved.promise;
      controller.abort();
      await reading;
    },
    "with a model error": async ({ stream, fail }) => {
      const reading = readAll(stream);
      fail.resolve();
      await reading;
    },
  };
  for (const [way, end] of Object.entries(ends)) {
    test(`${name}: a streamed response that is ${way}: the turn ends, nothing is lost, and the next one starts`, async (t) => {
      const h = await withHost(t);
      const controller = new AbortController();
      const fail = deferred();
      const saved = deferred();
      const save = tool({
        inputSchema: empty,
        execute: async (_, options) => {
          await harnessToolContext(options).files.writeText("/session/kept.txt", "kept");
          saved.resolve();
        },
      });
      const wait = way === "with a model error" ? fail.promise : new Promise(() => {});
      const { model } = scripted(version, [
        [{ call: ["s", "save", {}] }],
        ["begins", { wait }, { error: new Error("the model broke") }],
      ]);
      const turn = await begin(t, h.main, { signal: controller.signal });
      const called = [];
      const stream = streamText({
        model,
        tools: turn.tools({ save }),
        prompt: "go",
        abortSignal: controller.signal,
        ...untilDone(version),
        ...turn.callbacks({ onError: () => called.push("error"), onAbort: () => called.push("abort") }),
      });
      await end({ stream, controller, fail, saved });
      await nextTurnStarts(h.main);
      if (way === "with a model error") assert.deepEqual(called.slice(0, 1), ["error"]);
      if (way === "aborted") assert.deepEqual(called, ["abort"]);
      if (way !== "never read") assert.equal((await bytesOf(h.main, "/session/kept.txt")).toString(), "kept");
      await assert.rejects(turn.finish(), { code: "FS_ABORTED" });
    });
  }
}
