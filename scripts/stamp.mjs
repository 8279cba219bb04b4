// Whether an output is still what its sources give. By content, not by time: a checkout, a copy or a clock cannot fool it.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, Stop } from "./steps.mjs";

/** `outputs` are names below the root; every one must be there and be the one that was stamped. */
export function isFresh(name, sources, outputs) {
  try {
    const built = JSON.parse(readFileSync(stampFile(name), "utf8"));
    return outputs.length > 0 && built.sources === digest(sources) && built.outputs === describe(outputs);
  } catch {
    return false; // never built, or an output is gone
  }
}

export function stamp(name, sources, outputs) {
  if (outputs.length === 0) throw new Stop(`The build of the ${name} ended well but gave nothing.`);
  mkdirSync(join(root, ".cache/build"), { recursive: true });
  writeFileSync(stampFile(name), JSON.stringify({ sources: digest(sources), outputs: describe(outputs) }));
}

const stampFile = (name) => join(root, `.cache/build/${name}.json`);

function describe(outputs) {
  const stats = outputs.map((output) => statSync(join(root, output)));
  return outputs.map((output, index) => `${output} ${stats[index].size} ${stats[index].mtimeMs}`).join("\n");
}

function digest(sources) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const source of sources.flatMap(filesOf).sort()) {
    hash.update(`${source}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(root, source)))
        .digest(),
    );
  }
  return hash.digest("hex");
}

function filesOf(source) {
  const stat = statSync(join(root, source), { throwIfNoEntry: false });
  if (!stat) return [];
  return stat.isDirectory()
    ? readdirSync(join(root, source)).flatMap((name) => filesOf(`${source}/${name}`))
    : [source];
}
