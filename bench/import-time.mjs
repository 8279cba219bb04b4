// Run by packaged.mjs, a process for each sample: imports what is named and says how long that took.
const [folder, ...names] = process.argv.slice(2);

const start = performance.now();
const [loaded] = await Promise.all(names.map((name) => import(name)));
const imported = performance.now() - start;

const host = loaded.localHost?.({ dataDir: folder });
const opened = performance.now() - start;
await host?.close();

console.log(JSON.stringify({ imported, opened }));
