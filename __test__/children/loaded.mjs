// loaded.mjs WAY DATADIR: loads the package by `import` or `require` and says which addons the process holds before and after `localHost`.
import { createRequire } from "node:module";

const [way, dataDir] = process.argv.slice(2);
process.report.excludeNetwork = true;
const addons = () => process.report.getReport().sharedObjects.filter((each) => each.endsWith(".node"));
const listeners = new Set(process.eventNames().map(String));
const { localHost } =
  way === "import" ? await import("@little-stack/files") : createRequire(import.meta.url)("@little-stack/files");
const added = process
  .eventNames()
  .map(String)
  .filter((name) => !listeners.has(name));
const before = addons();
const host = localHost({ dataDir });
const after = addons();
await host.close();
console.log(JSON.stringify({ before, after, listeners: added }));
