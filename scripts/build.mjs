import { setup } from "./setup.mjs";

export async function main() {
  await setup({ force: true });
}
