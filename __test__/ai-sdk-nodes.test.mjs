// The suites ai-sdk*.test.mjs on the other Node versions that the package promises.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { nodes } from "../scripts/nodes.mjs";

const suites = ["ai-sdk", "ai-sdk-streams"].map((name) => path.join(import.meta.dirname, `${name}.test.mjs`));

for (const { version, program, missing } of await nodes()) {
  if (program === process.execPath) continue;
  test(`AI SDK 5, 6 and 7 on Node ${version}`, { skip: missing, timeout: 120_000 }, () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const ran = spawnSync(program, ["--test", "--test-reporter=tap", ...suites], {
      env,
      encoding: "utf8",
      timeout: 100_000,
    });
    assert.equal(
      ran.status,
      0,
      `${ran.stdout
        .split("\n")
        .filter((line) => /^not ok|error:/.test(line))
        .join("\n")}${ran.stderr}`,
    );
    assert.match(ran.stdout, /^# pass [1-9]\d*$/m);
  });
}
