// Remote files come through `fetchFile` only; sources are told once when nobody reads them; the signal ends everything.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";
import { until } from "./support/process.mjs";
import { leftovers } from "./support/tree.mjs";

const remote = (url, more) => ({ type: "file", mediaType: "text/csv", url, ...more });
const user = (id, ...parts) => ({ id, role: "user", parts });
const write = async ({ inputFiles, files }) => {
  const stagedFiles = [];
  for (const { safeName, content, mediaType } of inputFiles)
    stagedFiles.push(await files.write(`/session/${safeName}`, content, { mediaType }));
  return { stagedFiles };
};

/** Contents of every kind, watched: how often they were told that nobody reads on. */
const kinds = {
  "a web stream": (told, chunks = ["1", "2"]) =>
    new ReadableStream(
      {
        pull: (c) => {
          const next = chunks.shift();
          if (next === undefined) c.close();
          else c.enqueue(Buffer.from(next));
        },
        cancel: () => {
          told();
        },
      },
      { highWaterMark: 0 },
    ),
  "a Node stream": (told, chunks = ["1", "2"]) =>
    new Readable({
      read() {
        this.push(chunks.shift() ?? null);
      },
      destroy(error, done) {
        if (!this.readableEnded) told();
        done(error);
      },
    }),
  "a stream of another realm": (told, chunks = ["1", "2"]) => ({
    getReader: () => ({
      read: async () => {
        const next = chunks.shift();
        return next === undefined ? { done: true } : { done: false, value: Buffer.from(next) };
      },
      cancel: async () => {
        told();
      },
      releaseLock() {},
    }),
  }),
  "an async iterator": (told, chunks = ["1", "2"]) => ({
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const value = chunks.shift();
      return { done: value === undefined, value };
    },
    async return() {
      told();
      return { done: true };
    },
  }),
};

test("fetchFile gets a URL and its part, and says what the file is", async (t) => {
  const { main, files } = await withHost(t);
  const calls = [];
  const fetchFile = async (url, part) => {
    calls.push([url, part]);
    if (url.pathname === "/bytes") return { content: Buffer.from("b") };
    return {
      content: new Response(url.href).body,
      mediaType: "text/csv; charset=utf-8",
      name: url.pathname === "/named" ? "own name.csv" : undefined,
    };
  };
  const parts = [
    remote("https://example.com/a/sales%20de.csv?token=1#x", { mediaType: undefined }),
    remote("http://example.com/bytes"),
    remote("https://example.com/named", { filename: "client.txt" }),
    remote("https://example.com/", { mediaType: "image" }),
    { type: "image", image: new URL("https://example.com/b.png") },
    remote("ftp://example.com/x"),
  ];
  const { staged, messages } = await main.stageMessages([user("m1", ...parts)], { fetchFile, stageMessage: write });
  assert.deepEqual(
    calls.map(([url]) => url.href),
    parts.slice(0, 5).map((part) => String(part.url ?? part.image)),
  );
  assert.ok(calls.every(([url, part], at) => url instanceof URL && part === parts[at]));
  assert.deepEqual(
    staged.map(({ path, originalName, mediaType }) => [path, originalName, mediaType]),
    [
      ["/session/sales_de.csv", "sales de.csv", "text/csv"],
      ["/session/bytes", "bytes", "text/csv"],
      ["/session/own_name.csv", "own name.csv", "text/csv"],
      ["/session/file.csv", "file.csv", "text/csv"],
      ["/session/b.png", "b.png", "text/csv"],
    ],
  );
  assert.equal((await files.read("/session/sales_de.csv")).text(), parts[0].url);
  assert.deepEqual(messages[0].parts, [parts[5], { type: "text", text: messages[0].parts[1].text }]);
  // Staged, so also a call that could not fetch them takes them out, whatever the query is by now.
  const again = user("m1", { ...parts[0], url: parts[0].url.replace("token=1", "token=2") }, ...parts.slice(1));
  assert.equal((await main.stageMessages([again])).messages[0].parts.length, 2);
});

test("without fetchFile remote files stay; they are staged when a later call can fetch them", async (t) => {
  const { main } = await withHost(t);
  const messages = [
    user("m1", remote("https://example.com/a.csv")),
    user("m2", remote("https://example.com/b.csv"), remote("data:,x")),
  ];
  const first = await main.stageMessages(messages);
  assert.equal(first.messages[0], messages[0]);
  assert.equal(first.messages[1].parts[0], messages[1].parts[0]);
  assert.deepEqual(
    first.staged.map(({ messageId }) => messageId),
    ["m2"],
  );
  const fetchFile = async () => ({ content: "x" });
  const second = await main.stageMessages(messages, { fetchFile });
  assert.deepEqual(
    second.staged.map(({ messageId }) => messageId),
    ["m1"],
  );
  assert.equal(second.messages[1].parts[0], messages[1].parts[0], "m2 was staged without it: it stays");
  const third = await main.stageMessages(messages, { fetchFile, restage: true });
  assert.deepEqual(
    third.staged.map(({ messageId }) => messageId),
    ["m1", "m2", "m2"],
  );
});

test("a fetchFile that fails or gives nothing", async (t) => {
  const { main } = await withHost(t);
  const thrown = new TypeError("fetch failed for http://internal.example/secret");
  const call = (fetchFile) => main.stageMessages([user("m1", remote("https://example.com/a.csv"))], { fetchFile });
  const error = await rejectsWith(
    call(async () => {
      throw thrown;
    }),
    "FS_INVALID_CONTENT",
    { message: /fetchFile failed \(TypeError\)/ },
  );
  assert.equal(error.cause, thrown);
  assert.doesNotMatch(error.message, /internal/);
  await rejectsWith(
    call(() => {
      throw thrown;
    }),
    "FS_INVALID_CONTENT",
  );
  for (const result of [undefined, null, "x", {}, { body: "x" }, { content: undefined }])
    await rejectsWith(
      call(async () => result),
      "FS_INVALID_OPTION",
      { message: /fetchFile/ },
    );
  for (const content of [7, null, {}, new Map()])
    await rejectsWith(
      call(async () => ({ content })),
      "FS_INVALID_CONTENT",
    );
  assert.deepEqual((await main.status()).stagedMessageIds, []);
});

for (const [kind, make] of Object.entries(kinds)) {
  test(`the source is told exactly once when nobody reads on: ${kind}`, async (t) => {
    const h = await withHost(t, { quota: { fileBytes: 1 } });
    const watched = (chunks) => {
      const source = { told: 0 };
      source.content = make(() => {
        source.told += 1;
      }, chunks);
      return source;
    };
    let n = 0;
    const run = async (options, sources, code) => {
      const left = [...sources];
      const fetchFile = async () => ({ content: (left.shift() ?? assert.fail("not asked for")).content });
      const parts = sources.map((_, at) => remote(`https://example.com/${at}.csv`));
      const calling = h.main.stageMessages([user(`m${(n += 1)}`, ...parts)], { fetchFile, ...options });
      if (code === undefined) await calling;
      else await rejectsWith(calling, code);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return sources.map(({ told }) => told);
    };
    assert.deepEqual(await run({ stageMessage: write }, [watched(["1"])]), [0], "read to its end");
    assert.deepEqual(
      await run({ stageMessage: async () => ({ notice: "x" }) }, [watched(), watched()]),
      [1, 1],
      "not read by the hook",
    );
    assert.deepEqual(
      await run(
        {
          stageMessage: async () => {
            throw new Error("no");
          },
        },
        [watched()],
        "FS_IO_ERROR",
      ),
      [1],
      "the hook failed",
    );
    const large = Array.from({ length: 4 }, () => "x".repeat(2 ** 20));
    assert.deepEqual(
      await run({ stageMessage: write }, [watched(large), watched()], "FS_QUOTA_EXCEEDED"),
      [1, 1],
      "the write failed, the second was not reached",
    );
    const refused = async ({ inputFiles, files }) => {
      await files.write("/nowhere", inputFiles[0].content);
    };
    assert.deepEqual(
      await run({ stageMessage: refused }, [watched()], "FS_SANDBOX_DENIED"),
      [1],
      "the path was refused",
    );
    const handled = async ({ inputFiles, files }) => {
      await files.write("/nowhere", inputFiles[0].content).catch(() => {});
    };
    assert.deepEqual(
      await run({ stageMessage: handled }, [watched()]),
      [1],
      "the path was refused, and the hook went on",
    );
    const sources = [watched()];
    let asked = 0;
    const fetchFile = async () => {
      asked += 1;
      if (asked === 2) throw new Error("gone");
      return { content: sources[0].content };
    };
    assert.deepEqual(
      await run({ fetchFile }, [sources[0], {}], "FS_INVALID_CONTENT").then(([told]) => told),
      1,
      "the next fetch failed",
    );
  });
}

test("the signal", { timeout: 30_000 }, async (t) => {
  const h = await withHost(t);
  const reason = new Error("the user left");
  const never = () => new Promise(() => {});
  let told = 0;
  const endless = () =>
    new ReadableStream(
      {
        pull: never,
        cancel: () => {
          told += 1;
        },
      },
      { highWaterMark: 0 },
    );
  const aborted = async (code, start) => {
    const controller = new AbortController();
    const { signal } = controller;
    const call = start(signal, () => controller.abort(reason));
    const error = await rejectsWith(call, "FS_ABORTED");
    assert.equal(error.cause, reason, code);
    assert.equal(getEventListeners(signal, "abort").length, 0, `${code}: no listener is left`);
  };
  const message = [user("m1", remote("https://example.com/a.csv"))];
  const soon = (abort) => {
    setTimeout(abort, 30);
  };

  await rejectsWith(h.main.stageMessages(message, { signal: AbortSignal.abort(reason) }), "FS_ABORTED");
  await aborted("while fetching", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages(message, { signal, fetchFile: never });
  });
  let arrive;
  await aborted("a late arrival is cancelled", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages(message, {
      signal,
      fetchFile: () =>
        new Promise((resolve) => {
          arrive = resolve;
        }),
    });
  });
  arrive({ content: endless() });
  await until(() => told === 1, "what came too late is cancelled");
  await aborted("while the default hook writes", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages(message, { signal, fetchFile: async () => ({ content: endless() }) });
  });
  assert.equal(told, 2);
  await aborted("while a hook writes that does not pass it on", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages(message, {
      signal,
      stageMessage: write,
      fetchFile: async () => ({ content: endless() }),
    });
  });
  assert.equal(told, 3);
  await aborted("while a hook hangs", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages([user("m2", remote("data:,x"))], { signal, stageMessage: never });
  });
  await aborted("in a hook that then fails in its own way", (signal, abort) =>
    h.main.stageMessages([user("m2", remote("data:,x"))], {
      signal,
      stageMessage: async () => {
        abort();
        throw new Error("its own");
      },
    }),
  );
  await aborted("in a hook that did all the same", (signal, abort) =>
    h.main.stageMessages([user("m2", remote("data:,x"))], {
      signal,
      stageMessage: async () => {
        abort();
        return { notice: "x" };
      },
    }),
  );
  let go;
  const holding = h.main.stageMessages([user("m3", remote("data:,x"))], {
    stageMessage: () =>
      new Promise((resolve) => {
        go = resolve;
      }),
  });
  await aborted("while another call has its turn", (signal, abort) => {
    soon(abort);
    return h.main.stageMessages([user("m4", remote("data:,x"))], { signal });
  });
  const after = h.main.stageMessages([user("m3", remote("data:,x"))]);
  await until(() => go !== undefined, "the hook was reached");
  go({ notice: "held" });
  assert.deepEqual((await after).notices, ["held"]);
  await holding;
  assert.deepEqual((await h.main.status()).stagedMessageIds, ["m3"]);
  assert.deepEqual(leftovers(h.dataDir), []);
});
