// soak.mjs DATADIR SECONDS SEED TAG: opens hosts, writes, reads, lists, removes and deletes sessions at random on a folder that
// another program like it uses too. Says what was done, what failed as it may (FS_BUSY; FS_CLOSED, since the other
// deletes sessions), and every other failure.
import { localHost } from "@little-stack/files";
import { tagged, tagOf } from "../support/content.mjs";
import { seeded } from "../support/process.mjs";

const [dataDir, seconds, seed, program] = process.argv.slice(2);
const end = Date.now() + Number(seconds) * 1000;
const random = seeded(Number(seed));
const pick = (list) => list[Math.floor(random() * list.length)];
const done = {};
const allowed = {};
const failures = [];

async function attempt(what, call) {
  try {
    const value = await call();
    done[what] = (done[what] ?? 0) + 1;
    return value;
  } catch (error) {
    if (error.code === "FS_BUSY" || error.code === "FS_CLOSED")
      allowed[`${what} ${error.code}`] = (allowed[`${what} ${error.code}`] ?? 0) + 1;
    else failures.push(`${what}: ${error.stack} ${error.osCode ?? ""} ${error.cause ?? ""}`);
    return undefined;
  }
}

/** What this lane of this program wrote into its own folder of a session, as long as that session lives. */
async function use(session, tag) {
  const mine = new Map();
  for (let n = 0, rounds = 5 + random() * 15; n < rounds && Date.now() < end; n++) {
    const name = `/session/${tag}/${Math.floor(random() * 3)}/${Math.floor(random() * 6)}.bin`;
    const content = tagged(`${tag}-${n}`, 8 * Math.floor(random() * 5000));
    const what = pick(["write", "write", "stream", "read", "list", "remove", "stat", "shared", "recursive"]);
    const known = pick([...mine.keys()]);
    if (what === "write" || what === "stream") {
      const source =
        what === "write"
          ? content
          : (async function* () {
              for (let at = 0; at < content.length; at += 8000) yield content.subarray(at, at + 8000);
            })();
      if (await attempt("write", () => session.files.write(name, source))) mine.set(name, content);
      else mine.delete(name);
    }
    if (what === "read" && known) {
      const data = await attempt("read", () => session.files.read(known));
      if (data && !mine.get(known).equals(data.content)) failures.push(`read: ${known} is not what was written`);
    }
    if (what === "stat" && known) await attempt("stat", () => session.files.stat(known));
    if (what === "list") await attempt("list", () => session.files.list("/session", { recursive: true }));
    if (what === "remove" && known) {
      mine.delete(known);
      await attempt("remove", () => session.files.remove(known));
    }
    if (what === "recursive") {
      mine.clear();
      await attempt("remove", () => session.files.remove(`/session/${tag}`, { recursive: true, force: true }));
    }
    if (what === "shared") {
      // Nobody removes this one: once it is written it is there, unless the session goes.
      const ref = await attempt("write", () =>
        session.files.write("/session/shared.bin", tagged(`${tag}-${n}`, 80_000)),
      );
      const data = ref && (await attempt("read", () => session.files.read("/session/shared.bin")));
      try {
        if (data) tagOf(data.content);
      } catch (error) {
        failures.push(`shared: ${error.message}`);
      }
    }
  }
}

while (Date.now() < end) {
  const host = await attempt("open", () => localHost({ dataDir }));
  if (!host) continue;
  await Promise.all(
    [0, 1, 2].map(async (lane) => {
      for (let n = 0; n < 3 && Date.now() < end; n++) {
        const id = pick(["one", "two", "Three", "four"]);
        const session = await attempt("getOrCreate", () => host.sessions.getOrCreate({ id, metadata: { program } }));
        if (session) {
          await use(session, `${program}${lane}`);
          await attempt("close", () => session.close());
        }
        if (random() < 0.3)
          await attempt("delete", () =>
            host.sessions.delete(id).catch((error) => {
              if (error.code !== "FS_NOT_FOUND") throw error;
            }),
          );
        await attempt("sessions", () => host.sessions.list());
      }
    }),
  );
  await attempt("host.close", () => host.close());
}
console.log(JSON.stringify({ done, allowed, failures }));
