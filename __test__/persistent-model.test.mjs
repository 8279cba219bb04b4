// G6, "Nothing lost", as a model test: random sequences of everything that can happen, judged after each step. The seed is
// printed; LF_SEED repeats it. LF_MODEL_ROUNDS sequences for each kind of store (2), of LF_MODEL_STEPS steps (40).
import path from "node:path";
import { test } from "node:test";
import { tempDir } from "./support/host.mjs";
import { Model } from "./support/persistent/model.mjs";
import { KINDS, newStore } from "./support/persistent/stores.mjs";
import { seeded } from "./support/process.mjs";

const ROUNDS = Number(process.env.LF_MODEL_ROUNDS ?? 2);
const STEPS = Number(process.env.LF_MODEL_STEPS ?? 40);
const seed = Number(process.env.LF_SEED ?? Date.now() % 1_000_000);

for (const kind of KINDS) {
  for (let round = 0; round < ROUNDS; round++) {
    const own = seed + round;
    test(`${kind}: nothing is lost (LF_SEED=${own} LF_MODEL_ROUNDS=1)`, { timeout: 240_000 }, async (t) => {
      const store = await newStore(kind)(t);
      const model = new Model(t, { store, random: seeded(own), dataDir: path.join(tempDir(t), "data") });
      try {
        await model.run(STEPS);
      } catch (error) {
        error.message += `\nLF_SEED=${own}, store ${kind}, what was done:\n${model.log.join("\n")}`;
        throw error;
      }
    });
  }
}
