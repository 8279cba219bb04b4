// A host in a temporary folder of its own, watched for host paths, removed after the test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HarnessFileError, localHost } from "@little-stack/files";
import { needles, observed, see, textOf, watch, watchSession } from "./observe.mjs";

export { observed } from "./observe.mjs";

/** A folder of its own, removed after the test. Its name is looked for in all that the package shows. */
export function tempDir(t) {
  const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "little-files-"));
  needles.add(path.basename(base));
  after(t, () => {
    needles.delete(path.basename(base));
    removeTree(base);
  });
  return base;
}

const hooks = new WeakMap();
/** Like `t.after`, but last in, first out: a host is closed before its folder goes. */
export function after(t, hook) {
  if (!hooks.has(t)) {
    const mine = [];
    hooks.set(t, mine);
    t.after(async () => {
      const failures = [];
      for (const each of mine.reverse()) {
        try {
          await each();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }
  hooks.get(t).push(hook);
}

export function removeTree(dir) {
  try {
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    spawnSync("rm", ["-rf", "--", dir]); // trees deeper than a path may be long
  }
}

/**
 * Opens a host below a temporary folder. `options` are those of `localHost`; and
 *   resolver: "walk" forces the fallback resolver, undefined leaves it to the environment;
 *   base: a folder of `tempDir` to use, for a second host on the same dataDir;
 *   sessionId: the id of the first session ("test").
 * Gives { host, base, dataDir, outside, session(id), main, files, roots, events, observed }; `outside` is a folder
 * beside dataDir, `roots` the real folders of the first session's roots.
 */
export async function withHost(t, options = {}) {
  const { resolver, base = tempDir(t), sessionId = "test", ...hostOptions } = options;
  const dataDir = hostOptions.dataDir ?? path.join(base, "data");
  const outside = path.join(base, "outside");
  fs.mkdirSync(outside, { recursive: true });
  const events = [];
  const onEvent = (event) => {
    events.push(event);
    see("event", event);
    hostOptions.onEvent?.(event);
  };
  const host = withResolver(resolver, () => localHost({ ...hostOptions, dataDir, onEvent }));
  let open = true;
  const sessions = watch(host.sessions);
  const session = async (id = sessionId, more = {}) => watchSession(await sessions.getOrCreate({ id, ...more }));
  const close = async () => {
    open = false;
    await host.close();
  };
  after(t, async () => {
    if (open) await close();
    assertQuiet();
  });
  const main = await session();
  return {
    host,
    sessions,
    base,
    dataDir,
    outside,
    session,
    main,
    events,
    observed,
    close,
    files: main.files,
    roots: main.hostPaths(),
    /** Everything below the session's own folder: roots, staging, trace. */
    home: path.dirname(main.hostPaths().session),
  };
}

/** Runs `open` with the resolver asked for; the native host reads the environment when it opens. */
export function withResolver(resolver, open) {
  const before = process.env.LITTLE_FILES_RESOLVER;
  if (resolver !== undefined) process.env.LITTLE_FILES_RESOLVER = resolver;
  try {
    return open();
  } finally {
    if (before === undefined) delete process.env.LITTLE_FILES_RESOLVER;
    else process.env.LITTLE_FILES_RESOLVER = before;
  }
}

export function assertQuiet() {
  const leaks = observed.leaks.splice(0);
  assert.equal(leaks.length, 0, `a host path was shown: ${JSON.stringify(leaks.slice(0, 3), null, 1)}`);
}

/** Rejects (never throws at once) with a HarnessFileError of this code, worded as DESIGN section 4 says. Gives the error. */
export async function rejectsWith(promise, code, expected = {}) {
  let error;
  try {
    const given = typeof promise === "function" ? promise() : promise;
    assert.equal(typeof given?.then, "function", "a promise is returned");
    const value = await given.then(
      (resolved) => ({ resolved }),
      (rejected) => {
        error = rejected;
      },
    );
    if (value) assert.fail(`expected ${code}, but it resolved with ${textOf(value.resolved)?.slice(0, 300)}`);
  } catch (thrown) {
    if (thrown?.code === "ERR_ASSERTION") throw thrown;
    assert.fail(`threw at once instead of rejecting: ${thrown}`);
  }
  assertError(error, code, expected);
  return error;
}

/** Also for functions that throw at once. */
export function assertError(error, code, { reason, message, path: errorPath, osCode } = {}) {
  const shown = `${error?.name} ${error?.code}: ${error?.message}`;
  assert.ok(error instanceof HarnessFileError, `not a HarnessFileError: ${error?.stack ?? error}`);
  assert.ok(error instanceof Error && HarnessFileError.isInstance(error), shown);
  assert.equal(error.name, "HarnessFileError");
  assert.equal(error.code, code, shown);
  assert.ok(error.message.startsWith(`[${code}] `), `message starts with its code: ${shown}`);
  assert.ok(Buffer.byteLength(error.message) <= 2048, `message of ${Buffer.byteLength(error.message)} bytes`);
  assert.ok(error.message.isWellFormed?.() ?? true, "message is well-formed");
  assert.doesNotMatch(error.message, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, "no control character in a message");
  if (reason !== undefined) assert.equal(error.reason, reason, shown);
  if (message !== undefined) assert.match(error.message, message);
  if (errorPath !== undefined) assert.equal(error.path, errorPath, shown);
  if (osCode !== undefined) assert.equal(error.osCode, osCode, shown);
  see("error", error);
  const text = textOf(error);
  for (const needle of needles) assert.ok(!text.includes(needle), `a host path is in the error: ${text}`);
}
