// Importing the package loads no native code; without a working addon everything but `localHost` works, and that says why.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import * as entry from "@little-stack/files";
import { tempDir } from "./support/host.mjs";
import { copyPackage, lastJson, runChild } from "./support/process.mjs";

test("the entry exports what the contract names", () => {
  assert.equal(typeof entry.localHost, "function");
  assert.equal(typeof entry.HarnessFileError, "function");
  assert.ok(entry.HarnessFileError.prototype instanceof Error);
});

test("import and require give the same module", () => {
  const required = createRequire(import.meta.url)("@little-stack/files");
  assert.equal(required.localHost, entry.localHost);
  assert.equal(required.HarnessFileError, entry.HarnessFileError);
});

test("the generated loader and the modules inside stay private", async () => {
  for (const inside of ["binding.cjs", "dist/index.js", "dist/addon.js", "src/lib.rs"]) {
    await assert.rejects(import(`@little-stack/files/${inside}`), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
  }
});

for (const way of ["import", "require"]) {
  test(`${way} loads no addon; localHost does`, async (t) => {
    const { before, after, listeners } = lastJson(await runChild(t, "loaded", [way, path.join(tempDir(t), "data")]));
    assert.deepEqual(before, []);
    assert.ok(after.length >= 1, "it is seen once it is loaded, so the look before could have seen it");
    assert.deepEqual(listeners, [], "no listener on the process is added by the import");
  });
}

for (const [addon, reason] of [
  ["missing", /cannot find|not found|no such file/i],
  ["broken", /invalid elf header|file too short|not a mach-o|dlopen|not a valid|no suitable image/i],
]) {
  test(`an addon that is ${addon}: the import works, localHost throws FS_NATIVE_BINDING with every attempt and its cause`, async (t) => {
    const copy = await import(copyPackage(t, { addon }));
    assert.equal(typeof copy.localHost, "function");
    assert.ok(copy.HarnessFileError.prototype instanceof Error);
    const dataDir = path.join(tempDir(t), "data");
    for (let round = 0; round < 2; round++) {
      let error;
      assert.throws(
        () => copy.localHost({ dataDir }),
        (thrown) => {
          error = thrown;
          return true;
        },
      );
      assert.equal(error.code, "FS_NATIVE_BINDING", String(error));
      assert.ok(error instanceof copy.HarnessFileError && entry.HarnessFileError.isInstance(error));
      assert.ok(error.message.startsWith("[FS_NATIVE_BINDING] "));
      const told = error.message + JSON.stringify(error.details ?? {});
      assert.ok(told.includes(process.platform) && told.includes(process.arch), `names the platform: ${told}`);
      assert.match(told, /\.node/, "the file that was tried");
      assert.match(told, /@little-stack\/files-/, "the package that was tried");
      assert.match(told, reason, "the true reason");
      assert.ok(error.cause instanceof Error);
    }
  });
}

test("isInstance: errors of any copy, nothing else", () => {
  const { HarnessFileError } = entry;
  for (const value of [
    undefined,
    null,
    7,
    "FS_NOT_FOUND",
    {},
    { code: "FS_NOT_FOUND" },
    new Error("FS_NOT_FOUND"),
    Object.assign(new Error("x"), { code: "FS_NOT_FOUND" }),
    { name: "HarnessFileError" },
  ]) {
    assert.equal(HarnessFileError.isInstance(value), false, String(value));
  }
});
