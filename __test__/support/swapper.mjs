// A worker thread that swaps a folder or file for a symbolic link and back, as fast as it can, until told to stop.
// What the library removes or moves away meanwhile is laid anew.
import fs from "node:fs";
import path from "node:path";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

/**
 * Starts swapping `at` for a link to `target`. `tree` ({ name: text }) is what stands at `at` when it is real; a string
 * stands for a file. `spare` is a folder inside the same root, where the one that is out waits, as a shell in a sandbox
 * would have it. Gives { swaps(), stop() }.
 */
export function swap({ at, target, tree, spare }) {
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL(import.meta.url), { workerData: { at, target, tree, spare, flag } });
  const ended = new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  return {
    swaps: () => Atomics.load(flag, 1),
    async stop() {
      Atomics.store(flag, 0, 1);
      const swaps = await ended;
      await worker.terminate();
      return swaps;
    },
  };
}

function lay(at, tree) {
  if (typeof tree === "string") {
    fs.writeFileSync(at, tree);
    return;
  }
  fs.mkdirSync(at, { recursive: true });
  for (const [name, text] of Object.entries(tree)) {
    fs.mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
    fs.writeFileSync(path.join(at, name), text);
  }
}

/** Each step may fail, since the library works on the same names. */
function attempt(step) {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

function main({ at, target, tree, spare, flag }) {
  fs.mkdirSync(spare, { recursive: true });
  const ready = path.join(spare, "ready");
  let out = 0;
  /** Whatever stands at the name goes aside; nothing is written or deleted through the name itself. */
  const clear = () => {
    const aside = path.join(spare, `old-${(out += 1)}`);
    if (!attempt(() => fs.renameSync(at, aside))) return;
    const keep =
      out % 40 !== 0 &&
      attempt(() => {
        const real = fs.lstatSync(aside);
        if (real.isSymbolicLink() || real.isDirectory() === (typeof tree === "string")) throw new Error("not ours");
        fs.renameSync(aside, ready);
      });
    if (!keep) attempt(() => fs.rmSync(aside, { recursive: true, force: true }));
  };
  while (Atomics.load(flag, 0) === 0) {
    clear();
    if (attempt(() => fs.symlinkSync(target, at))) Atomics.add(flag, 1, 1);
    clear();
    if (!fs.existsSync(ready)) attempt(() => lay(ready, tree));
    attempt(() => fs.renameSync(ready, at));
  }
  clear();
  attempt(() => fs.rmSync(spare, { recursive: true, force: true }));
  parentPort.postMessage(Atomics.load(flag, 1));
}

if (!isMainThread && workerData?.flag) main(workerData);
