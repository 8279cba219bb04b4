// G6, "Nothing lost", over s3Dir: the model of support/persistent/model.mjs, with connections that are cut before and after the
// server applied a request. LF_SEED, LF_MODEL_ROUNDS and LF_MODEL_STEPS as in persistent-model.test.mjs.
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { Model } from "./support/persistent/model.mjs";
import { seeded } from "./support/process.mjs";
import { newS3Store } from "./support/s3/store.mjs";

const ROUNDS = Number(process.env.LF_MODEL_ROUNDS ?? 2);
const STEPS = Number(process.env.LF_MODEL_STEPS ?? 40);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);

for (let round = 0; round < ROUNDS; round++) {
  const own = seed + round;
  test(`s3: nothing is lost (LF_SEED=${own} LF_MODEL_ROUNDS=1)`, { timeout: 280_000 }, async (t) => {
    const store = await newS3Store()(t);
    if (store === undefined) return;
    const model = new Model(t, { store, random: seeded(own), dataDir: path.join(tempDir(t), "data") });
    try {
      await model.run(STEPS);
    } catch (error) {
      error.message += `\nLF_SEED=${own}, what was done:\n${model.log.join("\n")}`;
      throw error;
    }
  });
}
