// G6, "Nothing lost", over postgresDir: the model of support/persistent/model.mjs, with connections that are cut at some query and
// answers that are lost after the server committed. LF_SEED, LF_MODEL_ROUNDS and LF_MODEL_STEPS as in persistent-model.test.mjs.
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { Model } from "./support/persistent/model.mjs";
import { newStore } from "./support/postgres/store.mjs";
import { postgresSuite } from "./support/postgres/suite.mjs";
import { seeded } from "./support/process.mjs";

const ROUNDS = Number(process.env.LF_MODEL_ROUNDS ?? 2);
const STEPS = Number(process.env.LF_MODEL_STEPS ?? 40);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);

const suite = await postgresSuite();
for (let round = 0; suite && round < ROUNDS; round++) {
  const own = seed + round;
  test(`postgres: nothing is lost (LF_SEED=${own} LF_MODEL_ROUNDS=1)`, { timeout: 240_000 }, async (t) => {
    const store = newStore(suite)(t);
    const model = new Model(t, { store, random: seeded(own), dataDir: path.join(tempDir(t), "data") });
    try {
      await model.run(STEPS);
    } catch (error) {
      error.message += `\nLF_SEED=${own}, what was done:\n${model.log.join("\n")}`;
      throw error;
    }
  });
}
