// G1: another thread swaps a folder, a file or the root itself for a link to the outside, while every method runs.
// The outside mirrors the inside name by name, so that whatever follows the link once finds what it looks for.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { onBackends } from "./support/backends.mjs";
import { collect } from "./support/content.mjs";
import { leftovers, plant, snapshot } from "./support/tree.mjs";
import { swap } from "./support/swapper.mjs";

const MS = Number(process.env.LITTLE_FILES_RACE_MS ?? 1_500);
const NAMES = ["inner.txt", "sub/b.txt", "sub/deep/c.txt", "tree/1/x", "tree/2/x", "tree/3/4/x"];
const INSIDE = Object.fromEntries(NAMES.map((name) => [name, "INSIDE"]));
const CANARY = {
  ...Object.fromEntries(NAMES.map((name) => [name, "CANARY"])),
  "canary-only.txt": "CANARY",
  "tree/canary-only/x": "CANARY",
};
/** What may come of a call whose way is swapped under it. */
const OUTCOMES = new Set(["FS_NOT_FOUND", "FS_SANDBOX_DENIED", "FS_NOT_DIRECTORY", "FS_NOT_REGULAR_FILE"]);

/** Runs the calls round and round, a few at a time, until the time is up; counts what came of them. */
async function storm(calls, ms = MS) {
  const end = Date.now() + ms;
  const seen = { ok: 0, FS_SANDBOX_DENIED: 0, total: 0 };
  const lane = async (start) => {
    for (let at = start; Date.now() < end; at += 1) {
      const [name, call] = calls[at % calls.length];
      seen.total += 1;
      try {
        await call(at);
        seen.ok += 1;
      } catch (error) {
        if (error.code === "ERR_ASSERTION" || !OUTCOMES.has(error.code)) {
          throw new Error(`${name}: ${error.code} ${error.message}`, { cause: error });
        }
        seen[error.code] = (seen[error.code] ?? 0) + 1;
      }
    }
  };
  const lanes = await Promise.allSettled([0, 1, 2, 3].map(lane));
  const broken = lanes.find((each) => each.status === "rejected");
  if (broken) throw broken.reason;
  return seen;
}

const inside = (text) => assert.doesNotMatch(text, /CANARY/, "content of the outside was read");
const listed = (entries) => {
  for (const entry of entries) assert.doesNotMatch(entry.path, /canary/, `the outside was listed: ${entry.path}`);
};

/** Every method on names below `top`, which is what is swapped. */
function callsBelow(files, top) {
  const read = async (name) => inside((await files.read(`${top}/${name}`)).text());
  return [
    ["write new", (at) => files.writeText(`${top}/new-${at % 50}.txt`, "WRITTEN")],
    ["write over", () => files.writeText(`${top}/inner.txt`, "WRITTEN")],
    ["write deep", (at) => files.writeText(`${top}/fresh-${at % 50}/a/b.txt`, "WRITTEN")],
    [
      "write stream",
      () =>
        files.write(
          `${top}/sub/deep/c.txt`,
          (async function* () {
            yield "WRIT";
            yield "TEN";
          })(),
        ),
    ],
    ["read", () => read("inner.txt")],
    ["read deep", () => read("sub/deep/c.txt")],
    ["readStream", async () => inside((await collect(await files.readStream(`${top}/sub/b.txt`))).toString())],
    ["list", async () => listed(await files.list(top))],
    ["list all", async () => listed(await files.list("/session", { recursive: true }))],
    ["list below", async () => listed(await files.list(`${top}/tree`, { recursive: true }))],
    ["stat", () => files.stat(`${top}/sub/b.txt`)],
    ["remove file", () => files.remove(`${top}/sub/b.txt`)],
    ["remove tree", () => files.remove(`${top}/tree`, { recursive: true })],
    ["remove all", () => files.remove(top, { recursive: true })],
    ["guarded", () => files.writeText(`${top}/guarded-${Math.random()}.txt`, "WRITTEN", { ifNoneMatch: "*" })],
  ];
}

async function race(h, { swapped, target, tree, calls, spare = path.join(h.roots.session, ".spare") }) {
  const before = snapshot(h.outside);
  const swapper = swap({ at: swapped, target, tree, spare });
  let seen;
  let swaps;
  try {
    seen = await storm(calls);
  } finally {
    swaps = await swapper.stop();
  }
  assert.deepEqual(snapshot(h.outside), before, "the outside is as it was");
  assert.ok(swaps > 50, `only ${swaps} swaps`);
  assert.ok(seen.total > 50 && seen.ok > 0, `too little was tried: ${JSON.stringify(seen)}`);
  return seen;
}

onBackends("a parent folder swapped for a link, and back", async (t, h) => {
  plant(h.outside, Object.fromEntries(Object.entries(CANARY).map(([name, text]) => [`dir/${name}`, text])));
  plant(h.roots.session, Object.fromEntries(Object.entries(INSIDE).map(([name, text]) => [`d/${name}`, text])));
  const seen = await race(h, {
    swapped: path.join(h.roots.session, "d"),
    target: path.join(h.outside, "dir"),
    tree: INSIDE,
    calls: callsBelow(h.files, "/session/d"),
  });
  assert.ok(seen.FS_SANDBOX_DENIED > 0, `the link was never met: ${JSON.stringify(seen)}`);
  assert.deepEqual(leftovers(h.dataDir), []);
  // And the session works on.
  assert.equal((await h.files.writeText("/session/after.txt", "x")).bytes, 1);
});

onBackends("a folder further up swapped for a relative link", async (t, h) => {
  plant(h.outside, Object.fromEntries(Object.entries(CANARY).map(([name, text]) => [`dir/b/c/${name}`, text])));
  const tree = Object.fromEntries(Object.entries(INSIDE).map(([name, text]) => [`b/c/${name}`, text]));
  plant(h.roots.session, Object.fromEntries(Object.entries(tree).map(([name, text]) => [`a/${name}`, text])));
  await race(h, {
    swapped: path.join(h.roots.session, "a"),
    target: "../../../../outside/dir",
    tree,
    calls: callsBelow(h.files, "/session/a/b/c"),
  });
});

onBackends("a file swapped for a link to an outside file", async (t, h) => {
  plant(h.outside, { "secret.txt": "CANARY" });
  plant(h.roots.session, { "f.txt": "INSIDE" });
  const at = "/session/f.txt";
  const calls = [
    ["write", () => h.files.writeText(at, "WRITTEN")],
    [
      "write stream",
      () =>
        h.files.write(
          at,
          (async function* () {
            yield "WRIT";
            yield "TEN";
          })(),
        ),
    ],
    ["read", async () => inside((await h.files.read(at)).text())],
    ["readStream", async () => inside((await collect(await h.files.readStream(at))).toString())],
    ["stat", async () => assert.ok(["file", "symlink"].includes((await h.files.stat(at)).kind))],
    ["list", async () => listed(await h.files.list("/session"))],
    ["remove", () => h.files.remove(at)],
  ];
  await race(h, {
    swapped: path.join(h.roots.session, "f.txt"),
    target: path.join(h.outside, "secret.txt"),
    tree: "INSIDE",
    calls,
  });
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("the root itself swapped for a link", async (t, h) => {
  plant(h.outside, Object.fromEntries(Object.entries(CANARY).map(([name, text]) => [`dir/${name}`, text])));
  plant(h.roots.session, INSIDE);
  const calls = callsBelow(h.files, "/session").filter(([name]) => name !== "remove all");
  calls.push([
    "reopen",
    async () => {
      const again = await h.session("test");
      await again.files.writeText("/session/inner.txt", "WRITTEN").finally(() => again.close());
    },
  ]);
  OUTCOMES.add("FS_IO_ERROR"); // a root that is not where it was made is nobody's ordinary case
  try {
    await race(h, {
      swapped: h.roots.session,
      target: path.join(h.outside, "dir"),
      tree: INSIDE,
      calls,
      spare: path.join(h.home, "spare"),
    });
  } finally {
    OUTCOMES.delete("FS_IO_ERROR");
  }
});

onBackends("the canary is in reach: a plain program would have read it", async (t, h) => {
  // Proves that the races above can fail: node:fs, asked the same question meanwhile, follows the link.
  plant(h.outside, Object.fromEntries(Object.entries(CANARY).map(([name, text]) => [`dir/${name}`, text])));
  plant(h.roots.session, Object.fromEntries(Object.entries(INSIDE).map(([name, text]) => [`d/${name}`, text])));
  const swapper = swap({
    at: path.join(h.roots.session, "d"),
    target: path.join(h.outside, "dir"),
    tree: INSIDE,
    spare: path.join(h.roots.session, ".spare"),
  });
  const end = Date.now() + 5_000;
  let escaped = false;
  while (!escaped && Date.now() < end) {
    escaped =
      (await fs.promises.readFile(path.join(h.roots.session, "d/inner.txt"), "utf8").catch(() => "")) === "CANARY";
  }
  await swapper.stop();
  assert.ok(escaped);
});
