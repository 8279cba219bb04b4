// Two machines share one user's memory: two host processes with a dataDir each and nothing in common but the store. One is killed
// in the midst of a commit; the other goes on. `node examples/two-machines.mjs [postgres|s3]`: says each step in words. Ends with
// 1 if anything is not as it should be.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Checks } from "./demo/checks.mjs";
import { chooseStore } from "./two-machines/server.mjs";

const [wanted] = process.argv.slice(2);
if (wanted !== undefined && wanted !== "postgres" && wanted !== "s3") {
  console.error("Say which store: postgres or s3.");
  process.exit(1);
}
const checks = new Checks();
const { settings, says, missing, stop } = await chooseStore(wanted);
if (missing !== undefined) {
  console.error(`The example cannot run: ${missing}.`);
  process.exit(1);
}
console.log(`The store: ${says}.`);
const place = await mkdtemp(join(tmpdir(), "little-files-machines-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true })); // however it ends
process.once("SIGINT", () => process.exit(130));

/** Says it, and keeps what differs for the end. */
function check(what, found, expected) {
  console.log(`  ${checks.equal(what, found, expected) ? "yes" : "NO "}  ${what}`);
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

async function startMachine(name) {
  const program = join(import.meta.dirname, "two-machines/machine.mjs");
  const child = fork(program, [join(place, name), JSON.stringify(settings)]);
  const next = (key) =>
    new Promise((resolve, reject) => {
      const hear = (message) => {
        if (!(key in message) && !("failed" in message)) return;
        child.off("message", hear);
        if ("failed" in message) reject(new Error(`${name}: ${message.failed}`));
        else resolve(message[key]);
      };
      child.on("message", hear);
    });
  await next("ready");
  return {
    ask(task, given = {}) {
      const done = next("done");
      child.send({ task, ...given });
      return done;
    },
    next,
    kill: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill("SIGKILL");
      }),
    end: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.send({ task: "end" });
      }),
  };
}

console.log("\nAmsterdam writes Ada's preferences; Boston has them in its next turn, and adds to them.");
let amsterdam = await startMachine("amsterdam");
const boston = await startMachine("boston");
const first = await amsterdam.ask("turn", { write: { "preferences.md": "Metric units.\n" } });
check("Amsterdam's turn is committed", first.status, "succeeded");
const second = await boston.ask("turn", { write: { "projects.md": "A bridge.\n" } });
check("Boston found the preferences", second.found["preferences.md"], sha256("Metric units.\n"));
check("Boston's turn is committed", second.status, "succeeded");

console.log("\nAmsterdam's turn writes a report of 60 pages. It is killed in the midst of the commit.");
const pages = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => [`report/${n + 10}.md`, `Page ${n}\n${"All about bridges. ".repeat(12_000)}`]),
);
const committing = amsterdam.next("committing");
amsterdam.ask("turn", { write: pages }).catch(() => {}); // it never answers
await committing;
await new Promise((resolve) => {
  setTimeout(resolve, 120);
});
await amsterdam.kill();

console.log("\nBoston goes on at once.");
const third = await boston.ask("turn", { write: { "projects.md": "Two bridges.\n" } });
const seen = Object.keys(third.found).filter((name) => name.startsWith("report/"));
check("Boston's turn is committed", third.status, "succeeded");
check(
  `each page that Boston sees (${seen.length} of 60) is whole`,
  seen.every((name) => third.found[name] === sha256(pages[name])),
  true,
);
if (settings.kind === "postgres") {
  check("a commit to PostgreSQL is all or nothing", seen.length === 0 || seen.length === 60, true);
}

console.log("\nAmsterdam starts again, on its own disk. Nothing it wrote is lost; what has not landed is sent now.");
amsterdam = await startMachine("amsterdam");
const pending = await amsterdam.ask("pending");
console.log(`  ${pending.length} changes are pending`);
const retry = await amsterdam.ask("retry");
check("the commit, tried again", retry.status, "succeeded");
console.log(`  ${retry.landed.created} of them landed now; the others had landed before`);
check("nothing is pending", (await amsterdam.ask("pending")).length, 0);

const last = await boston.ask("turn", { write: {} });
check("Boston has all 60 pages", Object.keys(last.found).filter((name) => name in pages).length, 60);
check(
  "each of them whole",
  Object.entries(pages).every(([name, text]) => last.found[name] === sha256(text)),
  true,
);
check("and what it wrote itself", last.found["projects.md"], sha256("Two bridges.\n"));

await Promise.all([amsterdam.end(), boston.end()]);
await stop();
process.exitCode = checks.report();
