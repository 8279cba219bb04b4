// A user's notes that outlive the session: two sessions share them, the store fails, the program starts anew, and the commit
// is tried again. `node examples/memory-across-sessions.mjs`: says each step in words. Ends with 1 if anything is not as it
// should be. In your app, `database` is yours, and the rest stays.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PersistentDirConflict, customDir, localHost } from "@little-stack/files";
import { Checks } from "./demo/checks.mjs";

const checks = new Checks();
const place = await mkdtemp(join(tmpdir(), "little-files-memory-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));

// ── The store: the notes of each user, and a number that rises with every change ──

const database = { isUp: true, users: new Map() };

function notesOf(user) {
  if (!database.isUp) throw new Error("connect ECONNREFUSED"); // whatever a client of it throws
  if (!database.users.has(user)) database.users.set(user, { revision: 0, files: new Map(), applied: undefined });
  return database.users.get(user);
}

const memory = customDir({
  harnessDir: "/persistent/memory",
  scope: ({ extraBody }) => extraBody.user, // whose notes they are: the rest of extraBody may differ from call to call
  async load({ extraBody }) {
    const { files, revision } = notesOf(extraBody.user);
    return { files: new Map(files), cursor: revision };
  },
  async store({ extraBody, changes, cursor, commitId }) {
    const notes = notesOf(extraBody.user);
    if (notes.applied === commitId) return { cursor: notes.revision }; // asked again: the answer was lost
    if (notes.revision !== cursor) throw new PersistentDirConflict(changes.entries.map(({ path }) => path));
    for (const [path, content] of Object.entries({ ...changes.created, ...changes.updated })) {
      notes.files.set(path, content);
    }
    for (const path of changes.deleted) notes.files.delete(path);
    Object.assign(notes, { revision: notes.revision + 1, applied: commitId });
    return { cursor: notes.revision };
  },
});

// ── The app ──

const dataDir = join(place, "data");
const openHost = () => localHost({ dataDir, persistentDirs: [memory], onPersistenceError: alert });
const ada = { user: "ada", requestId: "…" };

function alert({ sessionId, harnessDir, error }) {
  console.log(`  [your alerting] session ${sessionId}, ${harnessDir}: ${error.message}`);
}

const file = "/persistent/memory/preferences.md";
const storedIs = (what, text) =>
  checks.equal(what, Buffer.from(database.users.get("ada").files.get("preferences.md") ?? []).toString(), text);

console.log("Monday. Ada tells something worth keeping, and the turn finishes.");
let host = openHost();
const monday = await host.sessions.getOrCreate({ id: "monday", extraBody: ada });
let turn = await monday.beginTurn({ extraBody: ada });
await turn.files.writeText(file, "- Answers in French.\n");
let { persistence } = await turn.finish();
say("  The commit:", persistence.status, checks.equal("Monday's commit", persistence.status, "succeeded"));
storedIs("the store on Monday", "- Answers in French.\n");

console.log("Tuesday. Another session of hers finds it, and adds to it, while the database is down.");
const tuesday = await host.sessions.getOrCreate({ id: "tuesday", extraBody: ada });
turn = await tuesday.beginTurn({ extraBody: ada });
const known = (await turn.files.read(file)).text();
say("  It reads:", known.trim(), checks.equal("what Tuesday reads", known, "- Answers in French.\n"));
await turn.files.writeText(file, `${known}- No meetings before ten.\n`);
database.isUp = false;
({ persistence } = await turn.finish());
say("  The commit:", persistence.status, checks.equal("Tuesday's commit", persistence.status, "failed"));
storedIs("the store on Tuesday", "- Answers in French.\n");
await host.close();

console.log("The program starts anew, on the same dataDir. The change is still there, and the session can read it.");
host = openHost();
const again = await host.sessions.getOrCreate({ id: "tuesday", extraBody: ada });
const [change] = await again.persistence.pending();
say(
  "  Pending:",
  `${change.path} (${change.change}, tried ${change.attempts} time, ${change.lastError.code})`,
  checks.equal("what is pending", `${change.change} ${change.path}`, `updated ${file}`),
);
const both = (await again.files.read(file)).text();
checks.equal("what the session reads", both, "- Answers in French.\n- No meetings before ten.\n");

console.log("The database is back, and the commit is tried again.");
database.isUp = true;
const retried = await again.persistence.commit();
say("  The commit:", retried.status, checks.equal("the retry", retried.status, "succeeded"));
checks.equal("what is pending after it", (await again.persistence.pending()).length, 0);
storedIs("the store after the retry", both);

console.log("Wednesday. The first session goes on, and begins its turn with what the other one wrote.");
const wednesday = await host.sessions.getOrCreate({ id: "monday", extraBody: ada });
turn = await wednesday.beginTurn({ extraBody: ada });
const shared = (await turn.files.read(file)).text();
say("  It reads:", shared.trim().replaceAll("\n", " "), checks.equal("what the first session reads", shared, both));
await turn.finish();
await host.close();
process.exitCode = checks.report();

function say(what, found, asItShould) {
  console.log(`${what} ${found}${asItShould ? "" : "   ← NOT AS IT SHOULD BE"}`);
}
