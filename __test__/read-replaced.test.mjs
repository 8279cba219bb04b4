// A file that is replaced all the time can be opened all the time: the moment of the exchange is no error to a reader.
import assert from "node:assert/strict";
import { onBackends } from "./support/backends.mjs";
import { sleep } from "./support/process.mjs";

const MS = Number(process.env.LF_RACE_MS ?? 5000);

onBackends(
  "a small file that two writers replace in a loop, opened by four readers",
  { trace: false },
  async (t, { files }) => {
    await files.write("/session/a.bin", "first");
    const failures = new Map();
    let stop = false;
    let opened = 0;
    const looping = async (call) => {
      while (!stop) {
        try {
          await call();
          opened++;
        } catch (error) {
          failures.set(error.message, (failures.get(error.message) ?? 0) + 1);
        }
      }
    };
    const all = [
      ...["one", "two"].map((content) => looping(() => files.write("/session/a.bin", content))),
      ...[0, 1].map(() =>
        looping(async () => assert.match((await files.read("/session/a.bin")).text(), /^(first|one|two)$/)),
      ),
      ...[0, 1].map(() => looping(async () => (await files.readStream("/session/a.bin")).cancel())),
      looping(async () => assert.equal((await files.stat("/session/a.bin")).kind, "file")),
      looping(async () => assert.equal((await files.list("/session")).length, 1)),
    ];
    await sleep(MS);
    stop = true;
    await Promise.all(all);
    assert.deepEqual(Object.fromEntries(failures), {}, `of ${opened} calls`);
    assert.ok(opened > 1000, `only ${opened} calls`);
  },
);
