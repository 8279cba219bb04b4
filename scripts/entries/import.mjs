import { use } from "./use.mjs";

const entry = process.argv[2];
const options = entry.endsWith(".json") ? { with: { type: "json" } } : {};
use(entry, await import(entry, options));
