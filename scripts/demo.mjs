import { setup } from "./setup.mjs";
import { show } from "./steps.mjs";

export async function main(args) {
  await setup();
  return show(process.execPath, ["examples/demo.mjs", ...args]);
}
