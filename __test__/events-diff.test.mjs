// The diff of an event is real, bounded, and says why when there is none; what is redacted leaves no trace of itself.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localHost } from "@little-stack/files";
import { tempDir, withHost } from "./support/host.mjs";
import { sha256 } from "./support/tree.mjs";

/** Writes `before` (unless undefined) and then `after`; gives the diff of the last write. */
async function diffOf(h, before, after, name = "/session/a.txt") {
  if (before !== undefined) await h.files.write(name, before);
  await h.files.write(name, after);
  const event = h.events.findLast(
    ({ type, metadata }) => /\.(created|updated)$/.test(type) && metadata.path.normalize() === name,
  );
  return event.metadata.diff;
}

function assertDiff(diff) {
  assert.equal(diff.available, true, JSON.stringify(diff));
  assert.equal(diff.format, "unified");
  assert.equal(typeof diff.truncated, "boolean");
  assert.ok(Buffer.byteLength(diff.preview) <= 8192, `a preview of ${Buffer.byteLength(diff.preview)} bytes`);
  assert.ok(diff.preview.isWellFormed() && !diff.preview.includes("\ufffd"));
  if (diff.truncated) {
    assert.ok(diff.bytes > Buffer.byteLength(diff.preview));
  } else {
    assert.equal(diff.bytes, Buffer.byteLength(diff.preview));
    assert.equal(diff.sha256, sha256(diff.preview));
  }
  assert.match(diff.sha256, /^[0-9a-f]{64}$/);
}

const linesOf = (diff, sign) =>
  diff.preview
    .split("\n")
    .filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
    .map((line) => line.slice(1));

test("a changed text: the lines that went and came, at their place", async (t) => {
  const h = await withHost(t);
  const before = Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join("");
  const diff = await diffOf(h, before, before.replace("line 50\n", "changed\nand more\n"));
  assertDiff(diff);
  assert.equal(diff.truncated, false);
  assert.deepEqual(linesOf(diff, "-"), ["line 50"]);
  assert.deepEqual(linesOf(diff, "+"), ["changed", "and more"]);
  assert.match(diff.preview, /^@@ -48,7 \+48,8 @@/m);
});

test("a new text is all additions, an emptied one all deletions", async (t) => {
  const h = await withHost(t);
  const made = await diffOf(h, undefined, "one\ntwo\n");
  assertDiff(made);
  assert.deepEqual([linesOf(made, "+"), linesOf(made, "-")], [["one", "two"], []]);
  const emptied = await diffOf(h, undefined, "");
  assertDiff(emptied);
  assert.deepEqual([linesOf(emptied, "+"), linesOf(emptied, "-")], [[], ["one", "two"]]);
});

test("a diff over 8 KiB is cut between whole characters", async (t) => {
  const h = await withHost(t);
  for (const unit of ["x", "é", "報", "📊"]) {
    const diff = await diffOf(h, "short\n", `${unit.repeat(20_000)}\n`, `/session/${encodeURIComponent(unit)}.txt`);
    assertDiff(diff);
    assert.equal(diff.truncated, true);
    assert.ok(Buffer.byteLength(diff.preview) > 8192 - 8 - 200);
    assert.ok(diff.bytes > 20_000);
  }
});

test("lines without an end, CRLF, and markers inside the text", async (t) => {
  const h = await withHost(t);
  assertDiff(await diffOf(h, "no end", "still no end"));
  assertDiff(await diffOf(h, "a\r\nb\r\n", "a\r\nc\r\n"));
  assertDiff(await diffOf(h, "--- a\n+++ b\n@@ -1 +1 @@\n", "--- a\n+++ c\n@@ -1 +1 @@\n"));
});

test("none for what is not text, or too large on either side, and the reason says so", async (t) => {
  const h = await withHost(t);
  const binary = Buffer.from([0x89, 0x50, 0, 0xff, 0xfe]);
  const large = "large text\n".repeat(25_000);
  assert.deepEqual(await diffOf(h, "text", binary, "/session/1"), { available: false, reason: "non_text" });
  assert.deepEqual(await diffOf(h, binary, "text", "/session/2"), { available: false, reason: "non_text" });
  assert.deepEqual(await diffOf(h, "text", large, "/session/3"), { available: false, reason: "too_large" });
  assert.deepEqual(await diffOf(h, large, "text", "/session/4"), { available: false, reason: "too_large" });
  assertDiff(await diffOf(h, "x\n", "y".repeat(256 * 1024), "/session/5"));
  assert.deepEqual(await diffOf(h, "x\n", "y".repeat(256 * 1024 + 1), "/session/6"), {
    available: false,
    reason: "too_large",
  });
});

test("a diff of wholly different large texts is quick", { timeout: 60_000 }, async (t) => {
  const h = await withHost(t);
  const lines = (tag) => Array.from({ length: 20_000 }, (_, n) => `${tag}${(n * 7919) % 20_011}\n`).join("");
  const start = performance.now();
  assertDiff(await diffOf(h, lines("a"), lines("b")));
  assert.ok(performance.now() - start < 10_000, `${Math.round(performance.now() - start)} ms`);
});

test("trace: { diff: false } gives every event without its diff", async (t) => {
  const h = await withHost(t, { trace: { diff: false } });
  assert.deepEqual(await diffOf(h, "one", "two"), { available: false, reason: "disabled" });
});

test("the diff is of what was really there", async (t) => {
  const h = await withHost(t);
  await h.files.write("/session/a.txt", "ours\n");
  fs.writeFileSync(path.join(h.roots.session, "a.txt"), "them\n");
  assert.deepEqual(linesOf(await diffOf(h, undefined, "next\n"), "-"), ["them"]);
});

test("redacted paths: no content in any event or in the trace, before or after", async (t) => {
  const h = await withHost(t, { redaction: { paths: ["/session/private"] } });
  const diff = await diffOf(h, "hush-one\n", "hush-two\n", "/session/private/a.txt");
  assert.deepEqual(diff, { available: false, reason: "redacted" });
  assert.deepEqual(await diffOf(h, undefined, Buffer.from([0, 1, 2]), "/session/private/a.txt"), {
    available: false,
    reason: "redacted",
  });
  await h.files.remove("/session/private/a.txt");
  const open = await diffOf(h, "open\n", "opened\n", "/session/public.txt");
  assertDiff(open);
  assert.ok(!JSON.stringify(h.events).includes("hush"));
  assert.ok(!fs.readFileSync(path.join(h.home, "trace.ndjson"), "utf8").includes("hush"));
});

test("a redacted path that could hide nothing is refused, and one is found however it is spelled", async (t) => {
  const dataDir = path.join(tempDir(t), "data");
  for (const bad of ["session/private", "/session/../session/private", "\\session", "private", "/session/a\0"]) {
    assert.throws(
      () => localHost({ dataDir, redaction: { paths: ["/session/fine", bad] } }),
      (error) => error.code === "FS_INVALID_OPTION" && error.message.includes("redaction.paths[1]"),
    );
  }
  assert.ok(!fs.existsSync(dataDir));
  const name = "/session/gehe\u00efm";
  const spelled = [`/session//.${name.slice("/session".length).normalize("NFD")}/`, "/session/other/"];
  const h = await withHost(t, { redaction: { paths: spelled } });
  fs.mkdirSync(path.join(h.roots.session, "gehe\u00efm".normalize("NFD"))); // made by another program
  for (const hidden of [`${name}/a.txt`, "/session/other/a.txt"]) {
    assert.deepEqual(await diffOf(h, undefined, "hush\n", hidden), { available: false, reason: "redacted" });
  }
  const other = await withHost(t, { redaction: { paths: [name.normalize("NFD")] } });
  const made = await diffOf(other, undefined, "hush\n", `${name}/a.txt`);
  assert.deepEqual(made, { available: false, reason: "redacted" }, "a name that we make is in NFC");
});

test("redacted metadata: the usual keys in any case, at any depth, and the host's own", async (t) => {
  const h = await withHost(t, { redaction: { keys: ["ssn", "X-Internal"] } });
  const keys = [
    "apiKey",
    "APIKEY",
    "authorization",
    "Authorization",
    "cookie",
    "Set-Cookie",
    "set-cookie",
    "token",
    "TOKEN",
    "password",
    "Password",
    "secret",
    "ssn",
    "SSN",
    "x-internal",
  ];
  const metadata = Object.fromEntries(keys.map((key) => [key, `hush ${key}`]));
  const given = {
    ...metadata,
    plain: "shown",
    tokens: 3,
    nested: { deeper: [{ secret: { any: "hush in an object" } }, { plain: "shown" }] },
  };
  const before = structuredClone(given);
  const ref = await h.files.write("/session/a.txt", "x", { metadata: given, artifact: { metadata: given } });
  assert.deepEqual(given, before, "the caller's object is left alone");
  assert.deepEqual(ref.artifact.metadata, given, "the reference is for the host: nothing is hidden there");
  const [created, staged, artifact] = h.events;
  for (const seen of [created.metadata.metadata, staged.metadata.metadata, artifact.metadata.artifact.metadata]) {
    for (const key of keys) assert.equal(seen[key], "[redacted]", key);
    assert.equal(seen.plain, "shown");
    assert.equal(seen.tokens, 3);
    assert.deepEqual(seen.nested, { deeper: [{ secret: "[redacted]" }, { plain: "shown" }] });
  }
  assert.ok(!JSON.stringify(h.events).includes("hush"));
  assert.ok(!fs.readFileSync(path.join(h.home, "trace.ndjson"), "utf8").includes("hush"));
});
