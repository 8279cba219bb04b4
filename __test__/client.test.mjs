// The entry "./client": guards and a schema that a browser bundle can import, without the addon and without Node.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import * as main from "@little-stack/files";
import * as client from "@little-stack/files/client";
import { rolldown } from "rolldown";
import { tempDir, withHost } from "./support/host.mjs";
import { copyPackage } from "./support/process.mjs";
import { begin, toolOf } from "./support/turns.mjs";

const { isToolResultFile, toolResultFileSchema } = client;

async function references(t) {
  const h = await withHost(t);
  const turn = await begin(t, h.main);
  const values = [
    "x".repeat(20_000),
    { rows: Array.from({ length: 3000 }, (_, id) => ({ id })) },
    Buffer.alloc(20_000),
  ];
  return Promise.all(
    values.map((value, at) => toolOf(turn, () => value)({}, at === 0 ? {} : { toolCallId: `c${at}` })),
  );
}

test("it has the guard and the schema, the same that the main entry has", () => {
  assert.deepEqual(Object.keys(client).sort(), ["isToolResultFile", "toolResultFileSchema"]);
  assert.ok(isToolResultFile(JSON.parse(JSON.stringify(sample))) && main.isToolResultFile(sample));
  assert.deepEqual(main.toolResultFileSchema, toolResultFileSchema);
});

const sample = {
  type: "harness.tool_result_file",
  toolName: "query",
  path: "/artifacts/tool-results/query/c.txt",
  bytes: 5,
  sha256: "0".repeat(64),
  mediaType: "text/plain",
  truncated: true,
  summary: { format: "text" },
  preview: "",
  message: "m",
};

test("isToolResultFile: references as they are made, stored and loaded again, and nothing else", async (t) => {
  for (const reference of await references(t)) {
    assert.ok(isToolResultFile(reference));
    assert.ok(isToolResultFile(JSON.parse(JSON.stringify(reference))));
  }
  for (const key of Object.keys(sample)) {
    const { [key]: _, ...without } = sample;
    assert.equal(isToolResultFile(without), false, `without ${key}`);
    assert.equal(isToolResultFile({ ...sample, [key]: null }), false, `${key} null`);
  }
  for (const value of [undefined, null, 5, "x", [], {}, { type: "harness.tool_result_file" }, () => {}])
    assert.equal(isToolResultFile(value), false);
});

/** As much of JSON Schema as ours uses. */
function valid(schema, value) {
  if (schema.const !== undefined) return value === schema.const;
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (schema.type === "string") return typeof value === "string" && new RegExp(schema.pattern ?? "").test(value);
  if (schema.type === "integer") return Number.isInteger(value) && value >= schema.minimum;
  assert.equal(schema.type, "object");
  if (typeof value !== "object" || value === null) return false;
  const known = schema.properties ?? {};
  if (!(schema.required ?? []).every((key) => key in value)) return false;
  return Object.entries(value).every(([key, each]) =>
    known[key] ? valid(known[key], each) : schema.additionalProperties !== false,
  );
}

test("toolResultFileSchema agrees with what is made, and is frozen all through", async (t) => {
  for (const reference of await references(t))
    assert.ok(valid(toolResultFileSchema, reference), JSON.stringify(reference));
  for (const wrong of [
    {},
    { ...sample, sha256: "x" },
    { ...sample, more: 1 },
    { ...sample, truncated: false },
    { ...sample, bytes: -1 },
  ])
    assert.ok(!valid(toolResultFileSchema, wrong));
  const frozen = (value) =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  assert.ok(frozen(toolResultFileSchema));
  assert.equal(JSON.stringify(JSON.parse(JSON.stringify(toolResultFileSchema))), JSON.stringify(toolResultFileSchema));
});

test("a browser bundle can import it: no Node module in it, and it runs without any Node global", async (t) => {
  const folder = tempDir(t);
  const input = path.join(folder, "app.js");
  fs.writeFileSync(
    input,
    `export { isToolResultFile, toolResultFileSchema } from ${JSON.stringify(fileURLToPath(import.meta.resolve("@little-stack/files/client")))};`,
  );
  const bundle = await rolldown({
    input,
    platform: "browser",
    logLevel: "silent",
    external: (id) => {
      assert.ok(!id.startsWith("node:"), id);
      return false;
    },
  });
  const { output } = await bundle.generate({ format: "iife", name: "app" });
  await bundle.close();
  assert.equal(output.length, 1);
  assert.doesNotMatch(output[0].code, /\brequire\b|\bimport\b|node:|\bprocess\b|\bBuffer\b/);
  assert.ok(output[0].code.length < 5000, `${output[0].code.length} characters`);
  const context = vm.createContext({});
  vm.runInContext(`${output[0].code}; globalThis.found = app.isToolResultFile(${JSON.stringify(sample)});`, context);
  assert.equal(context.found, true);
});

test("without an addon it loads, and so does what needs none of the main entry", async (t) => {
  const entry = copyPackage(t, { addon: "none" });
  const copy = await import(new URL("client.js", entry).href);
  assert.ok(copy.isToolResultFile(sample));
  const whole = await import(entry.href);
  assert.equal(whole.tryHarnessToolContext(), undefined);
  assert.throws(() => whole.harnessToolContext(), { code: "FS_NO_CONTEXT" });
  assert.ok(whole.offloadInstructions().length > 100);
  assert.ok(whole.isToolResultFile(sample));
});
