// G1: any string at all, as a path: refused with a code, or one file inside its root.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { onBackends } from "./support/backends.mjs";
import { sha256 } from "./support/tree.mjs";

const real = (roots, harness) => {
  const [, root, ...rest] = harness.split("/");
  return path.join(roots[root], ...rest);
};
const parentOf = (harness) => harness.slice(0, harness.lastIndexOf("/"));

// Paths as a model may garble them: joined from pieces that mean something to some file system, and plain noise.
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "a",
      "b.txt",
      "..",
      ".",
      "",
      "%2e%2e",
      "...",
      "\\",
      "\0",
      "\n",
      "~",
      "C:",
      "e\u0301",
      "\u00e9",
      "\ud83d\ude00",
      "\ud800",
      " ",
      "\u202e",
      "x".repeat(256),
      "CON",
      "__proto__",
      "session",
    ),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 12, unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
      .map((units) => String.fromCharCode(...units)),
  },
);
const anyPath = fc
  .tuple(
    fc.constantFrom("/session/", "/artifacts/", "/session", "/persistent/", "/", "", "//session//"),
    fc.array(piece, { maxLength: 5 }),
  )
  .map(([start, pieces]) => start + pieces.join("/"));
const REFUSALS = new Set(["FS_INVALID_PATH", "FS_SANDBOX_DENIED", "FS_NOT_DIRECTORY", "FS_NOT_REGULAR_FILE"]);

onBackends("any string is refused, or names a file whose listing gives back the ref's path", async (t, h) => {
  let written = 0;
  let turnedAway = 0;
  await fc.assert(
    fc.asyncProperty(anyPath, async (p) => {
      let ref;
      try {
        ref = await h.files.writeText(p, p.isWellFormed() ? p : "");
      } catch (error) {
        turnedAway += 1;
        assert.ok(REFUSALS.has(error.code), `${error.code} for ${JSON.stringify(p)}: ${error.message}`);
        return;
      }
      written += 1;
      assert.match(ref.path, /^\/(session|artifacts)\/./);
      const listed = await h.files.list(parentOf(ref.path));
      assert.equal(
        listed.filter((entry) => entry.path === ref.path).length,
        1,
        `${JSON.stringify(p)} gave ${JSON.stringify(ref.path)}`,
      );
      assert.equal((await h.files.read(ref.path)).text(), p.replace(/^\ufeff/, ""));
      assert.equal((await h.files.read(p)).sha256, ref.sha256);
      assert.equal(sha256(fs.readFileSync(real(h.roots, ref.path))), ref.sha256);
    }),
    { numRuns: 250 },
  );
  assert.ok(written > 20 && turnedAway > 20, `${written} written, ${turnedAway} refused`);
  assert.deepEqual(fs.readdirSync(h.base).sort(), ["data", "outside"]);
  assert.deepEqual(fs.readdirSync(h.outside), []);
});
