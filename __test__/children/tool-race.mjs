// tool-race.mjs DATADIR WAY NAME — reads what it needs, says "ready", and on "go" makes one call; prints how it ended.
// A session of its own handle; no turn, since a turn is had by one process at a time.
import { localHost } from "@little-stack/files";
import { sessionFileSystem } from "@little-stack/files/tools";

const [dataDir, way, name] = process.argv.slice(2);
const host = localHost({ dataDir });
const session = await host.sessions.getOrCreate({ id: "test" });
const files = sessionFileSystem(session);

const calls = {
  create: async () => {
    const target = await files.resolve("/session/new.txt");
    return () => files.writeText(target, name, { expected: { createIfAbsent: true } });
  },
  replace: async () => {
    const target = await files.resolve("/session/old.txt");
    const { version } = await files.readText(target);
    return () => files.writeText(target, name, { expected: { replaceIfVersion: version } });
  },
  edit: async () => {
    const target = await files.resolve("/session/old.txt");
    const { version } = await files.readText(target);
    return () => files.editText(target, [{ oldString: "old", newString: name }], { expected: { version } });
  },
  /** Each adds lines of its own, and tries again when it was overtaken: none may be lost. */
  append: async () => {
    const target = await files.resolve("/session/old.txt");
    return async () => {
      for (let at = 0; at < 20; at++) {
        for (;;) {
          const { text, version } = await files.readText(target);
          const edits = [{ oldString: text, newString: `${text}${name}${at}\n` }];
          const done = await files.editText(target, edits, { expected: { version } }).catch((error) => error.code);
          if (typeof done === "object") break;
          if (done !== "FS_STALE_VERSION") throw new Error(done);
        }
      }
    };
  },
};

const call = await calls[way]();
console.log("ready");
for await (const line of process.stdin) if (String(line).startsWith("go")) break;
const code = await call().then(
  () => "done",
  (error) => error.code,
);
console.log(JSON.stringify({ code }));
await host.close();
process.stdin.destroy();
