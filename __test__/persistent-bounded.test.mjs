// G4: a Persistent Dir costs a row a file and streams its contents, whatever their size: loads and commits of one large file,
// and of very many small ones. LF_BIG_MIB: 300 by default; 2048 before a release.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { lastJson, runChild } from "./support/process.mjs";
import { sha256 } from "./support/tree.mjs";

const MIB = Number(process.env.LF_BIG_MIB ?? 300);
const COUNT = 10_000;
const linux = process.platform === "linux";
const skip = !linux && "reads /proc";

function freeMiB(folder) {
  const { bavail, bsize } = fs.statfsSync(folder);
  return (bavail * bsize) / 2 ** 20;
}

for (const kind of ["local", "streaming"]) {
  test(`${kind}: a file of ${MIB} MiB each way, in far less memory`, { timeout: 280_000, skip }, async (t) => {
    const base = tempDir(t);
    if (freeMiB(base) < 6 * MIB) return t.skip(`${6 * MIB} MiB of disk are needed`);
    const source = path.join(base, "source");
    fs.mkdirSync(source);
    const big = fs.openSync(path.join(source, "big.bin"), "w");
    for (let n = 0; n < MIB; n++) fs.writeSync(big, Buffer.alloc(1 << 20, n % 251));
    fs.closeSync(big);
    const result = lastJson(
      await runChild(t, "bounded", [path.join(base, "data"), source, kind, MIB], {
        limit: 270_000,
        execArgv: ["--expose-gc"],
      }),
    );
    assert.equal(result.status, "succeeded", result.error);
    assert.equal(result.loaded, MIB * 2 ** 20);
    assert.deepEqual(result.changes, { created: 1, updated: 0, deleted: 0 });
    t.diagnostic(`${result.mib} MiB`);
    assert.ok(result.mib < 120, `${result.mib} MiB for a file of ${MIB} MiB`);
    const out = fs.openSync(path.join(source, "out.bin"), "r");
    assert.equal(fs.fstatSync(out).size, MIB * 2 ** 20);
    const chunk = Buffer.alloc(1 << 20);
    for (let n = 0; n < MIB; n++) {
      assert.equal(fs.readSync(out, chunk), chunk.length);
      if (n % 37 === 0) assert.equal(sha256(chunk), sha256(Buffer.alloc(1 << 20, "y")));
    }
    fs.closeSync(out);
  });

  test(`${kind}: ${COUNT} files, ten of them changed`, { timeout: 280_000, skip }, async (t) => {
    const base = tempDir(t);
    const source = path.join(base, "source");
    for (let n = 0; n < 100; n++) fs.mkdirSync(path.join(source, String(n)), { recursive: true });
    for (let n = 0; n < COUNT; n++)
      fs.writeFileSync(path.join(source, `${n % 100}/${n}.txt`), `file ${n} `.repeat(500));
    const result = lastJson(
      await runChild(t, "bounded", [path.join(base, "data"), source, kind, COUNT], {
        limit: 270_000,
        execArgv: ["--expose-gc"],
      }),
    );
    assert.equal(result.status, "succeeded", result.error);
    assert.equal(result.loaded, COUNT);
    assert.deepEqual(result.changes, { created: 0, updated: 10, deleted: 0 });
    t.diagnostic(`${result.mib} MiB`);
    // All contents together are more than 50 MiB.
    assert.ok(result.mib < 100, `${result.mib} MiB for ${COUNT} files`);
  });
}
