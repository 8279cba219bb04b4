// permission-denied.mjs DATADIR: loads the package as root, becomes another user, and meets folders and files of mode 0.
// Says the code of each call, and all that the errors and events show.
import fs from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { localHost } from "@little-stack/files";
import { becomeNobody } from "../support/drop-rights.mjs";

const [dataDir] = process.argv.slice(2);
await becomeNobody();

const events = [];
const host = localHost({ dataDir, onEvent: (event) => events.push(event) });
const session = await host.sessions.getOrCreate({ id: "denied" });
const { files } = session;
const root = session.hostPaths().session;
await files.write("/session/shut/file.txt", "there");
await files.write("/session/file.txt", "there");
await files.write("/session/sealed/inner/file.txt", "there");
fs.chmodSync(path.join(root, "shut"), 0);
fs.chmodSync(path.join(root, "file.txt"), 0);
fs.chmodSync(path.join(root, "sealed"), 0o500);

const calls = {
  write: () => files.write("/session/shut/new.txt", "x"),
  replace: () => files.write("/session/shut/file.txt", "x"),
  deep: () => files.write("/session/shut/new/er/file.txt", "x"),
  writeJSON: () => files.writeJSON("/session/sealed/new.json", {}),
  read: () => files.read("/session/file.txt"),
  readStream: () => files.readStream("/session/file.txt"),
  "read below": () => files.read("/session/shut/file.txt"),
  stat: () => files.stat("/session/shut/file.txt"),
  list: () => files.list("/session/shut"),
  remove: () => files.remove("/session/sealed/inner", { recursive: true }),
  "remove below": () => files.remove("/session/shut/file.txt"),
};
const codes = {};
const errors = [];
for (const [name, call] of Object.entries(calls)) {
  codes[name] = await call().then(
    () => "no error",
    (error) => {
      errors.push(error);
      return String(error.code);
    },
  );
}
for (const name of ["shut", "file.txt", "sealed"]) fs.chmodSync(path.join(root, name), 0o700);
await host.close();
const shown =
  inspect([errors, events, errors.map((error) => error.stack)], {
    depth: 10,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
  }) + JSON.stringify([errors, events]);
console.log(JSON.stringify({ codes, shown }));
