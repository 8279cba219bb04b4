// A value of a million rows as JSON, and the longest time for which nothing else in the process got a turn.
import { join } from "node:path";
import { compare, row } from "./harness.mjs";
import { node, nodeWrite, ours, wfa, wfaWrite, withFiles } from "./peers.mjs";
import { probed } from "./probe.mjs";

export async function json({ quick }) {
  const count = quick ? 50_000 : 1_000_000;
  const rows = Array.from({ length: count }, (_, id) => ({
    id,
    name: `customer ${id}`,
    active: id % 3 === 0,
    balance: id / 7,
  }));
  const title = `${count.toLocaleString("en")} rows as JSON`;
  const text = () => JSON.stringify(rows, null, 2);
  const contenders = {
    [ours]: (folder) => withFiles(folder, {}, (files) => probed(() => files.writeJSON("/session/rows.json", rows))),
    [node]: (folder) => probed(() => nodeWrite(join(folder, "rows.json"), text())),
    [wfa]: (folder) => probed(() => wfaWrite(join(folder, "rows.json"), text())),
  };
  const results = await compare(title, contenders, { rounds: quick ? 2 : 5, needs: 2 ** 30 });
  return [row(title, results, "time", "ms"), row("… longest stall of the event loop", results, "stall", "ms")];
}
