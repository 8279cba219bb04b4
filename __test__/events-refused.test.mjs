// What is refused is an event too: the operation, the code, and for policy its reason; never the content.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { rejectsWith, withHost } from "./support/host.mjs";

const wrongHash = "0".repeat(64);
const refusals = {
  "a path out of the grammar": [
    "write",
    "FS_INVALID_PATH",
    (files) => files.write("/session/../x", "hush"),
    "/session/../x",
  ],
  "a path outside the roots": [
    "write",
    "FS_SANDBOX_DENIED",
    (files) => files.write("/etc/passwd", "hush"),
    "/etc/passwd",
    "outside_roots",
  ],
  "a read outside the roots": [
    "read",
    "FS_SANDBOX_DENIED",
    (files) => files.read("/etc/passwd"),
    "/etc/passwd",
    "outside_roots",
  ],
  "a stream from outside the roots": [
    "readStream",
    "FS_SANDBOX_DENIED",
    (files) => files.readStream("/etc/passwd"),
    "/etc/passwd",
    "outside_roots",
  ],
  "a listing outside the roots": ["list", "FS_SANDBOX_DENIED", (files) => files.list("/etc"), "/etc", "outside_roots"],
  "a stat outside the roots": [
    "stat",
    "FS_SANDBOX_DENIED",
    (files) => files.stat("/etc/passwd"),
    "/etc/passwd",
    "outside_roots",
  ],
  "a remove of a root": [
    "remove",
    "FS_SANDBOX_DENIED",
    (files) => files.remove("/session", { recursive: true }),
    "/session",
    "root",
  ],
  "a write through a link": [
    "write",
    "FS_SANDBOX_DENIED",
    (files) => files.write("/session/link/x", "hush"),
    "/session/link/x",
    "symlink",
  ],
  "a read-only place": [
    "write",
    "FS_SANDBOX_DENIED",
    (files) => files.write("/.agents/x", "hush"),
    "/.agents/x",
    undefined,
  ],
  "a Persistent Dir that was not declared": [
    "write",
    "FS_SANDBOX_DENIED",
    (files) => files.write("/persistent/none/x", "hush"),
    "/persistent/none/x",
    "undeclared_persistent_dir",
  ],
  "another version": [
    "write",
    "FS_STALE_VERSION",
    (files) => files.write("/session/a.txt", "hush", { ifMatch: wrongHash }),
    "/session/a.txt",
  ],
  "something is there already": [
    "write",
    "FS_ALREADY_EXISTS",
    (files) => files.write("/session/a.txt", "hush", { ifNoneMatch: "*" }),
    "/session/a.txt",
  ],
  "content of a wrong kind": [
    "write",
    "FS_INVALID_CONTENT",
    (files) => files.write("/session/b.txt", new Map()),
    "/session/b.txt",
  ],
  "a value JSON cannot hold": [
    "writeJSON",
    "FS_INVALID_CONTENT",
    (files) => files.writeJSON("/session/b.json", { hush: 1n }),
    "/session/b.json",
  ],
  "an option that makes no sense": [
    "write",
    "FS_INVALID_OPTION",
    (files) => files.write("/session/b.txt", "hush", { ifMatch: 7 }),
    "/session/b.txt",
  ],
  "the host's own limit": [
    "write",
    "FS_QUOTA_EXCEEDED",
    (files) => files.write("/session/b.txt", "hush".repeat(1000)),
    "/session/b.txt",
  ],
};

for (const [title, [operation, code, call, name, reason]] of Object.entries(refusals)) {
  test(`${title}: ${code}`, async (t) => {
    const h = await withHost(t, { quota: { fileBytes: 2000 } });
    await h.files.write("/session/a.txt", "there");
    fs.symlinkSync(h.outside, path.join(h.roots.session, "link"));
    h.events.length = 0;
    const error = await rejectsWith(call(h.files), code, reason === undefined ? {} : { reason });
    assert.equal(h.events.length, 1, JSON.stringify(h.events));
    const [event] = h.events;
    assert.equal(event.type, "harness.file.refused");
    assert.equal(event.metadata.code, code);
    assert.equal(event.metadata.path, name);
    assert.equal(event.metadata.reason, error.reason);
    assert.equal(event.metadata.message, error.message);
    if (operation !== "writeJSON") assert.equal(event.metadata.operation, operation);
    if (operation.startsWith("write")) assert.equal(event.metadata.source, "app-context");
    assert.ok(!JSON.stringify(event).includes("hush") || operation === "writeJSON");
    const last = fs.readFileSync(path.join(h.home, "trace.ndjson"), "utf8").trimEnd().split("\n").at(-1);
    assert.deepEqual(JSON.parse(last), event);
  });
}

test("what is only not there, aborted or of the wrong kind is no refusal", async (t) => {
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "x");
  await h.files.write("/session/folder/b.txt", "x");
  h.events.length = 0;
  await rejectsWith(h.files.read("/session/none"), "FS_NOT_FOUND");
  await rejectsWith(h.files.list("/session/a.txt"), "FS_NOT_DIRECTORY");
  await rejectsWith(h.files.read("/session/folder"), "FS_NOT_REGULAR_FILE");
  await rejectsWith(h.files.write("/session/b", "x", { signal: AbortSignal.abort() }), "FS_ABORTED");
  assert.deepEqual(h.events, []);
});

test("a refused path that is no string, or full of escapes, makes a bounded and quiet event", async (t) => {
  const h = await withHost(t);
  for (const bad of [
    undefined,
    null,
    7,
    {},
    "",
    "/session/\u001b[2J",
    "/session/\ud800",
    `/session/${"x".repeat(100_000)}`,
    `/${"y/".repeat(5000)}`,
  ]) {
    h.events.length = 0;
    await rejectsWith(h.files.write(bad, "x"), "FS_INVALID_PATH");
    assert.equal(h.events.length, 1);
    const text = JSON.stringify(h.events[0]);
    assert.ok(text.length < 20_000, `an event of ${text.length} characters`);
    assert.ok(text.isWellFormed());
  }
});
