// A stream of 1 GiB, in the chunks that file streams (64 KiB) and sockets (16 KiB) give.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { compare, row } from "./harness.mjs";
import { node, ours, temporary, wfa, wfaWrite, withFiles } from "./peers.mjs";

const MiB = 2 ** 20;
const pool = randomBytes(16 * MiB);

export async function stream({ quick }) {
  const total = (quick ? 64 : 1024) * MiB;
  const options = { rounds: quick ? 2 : 5, needs: 3 * total };
  const rows = [];
  for (const chunk of [64, 16]) {
    const source = () => chunksOf(chunk * 1024, total);
    const title = `${quick ? "64 MiB" : "1 GiB"} stream, ${chunk} KiB chunks`;
    rows.push(row(title, await compare(title, contenders(source, total), options), "rate", "MiB/s", { more: true }));
  }
  return rows;
}

async function* chunksOf(size, total) {
  for (let at = 0; at < total; at += size) yield pool.subarray(at % pool.length, (at % pool.length) + size);
}

function contenders(source, total) {
  const rate = async (write) => {
    const start = performance.now();
    const { bytes } = await write();
    if (bytes !== total) throw new Error(`${bytes} bytes instead of ${total}`);
    return { rate: total / MiB / ((performance.now() - start) / 1000) };
  };
  return {
    [ours]: (folder) => withFiles(folder, {}, (files) => rate(() => files.write("/session/big.bin", source()))),
    [node]: (folder) => rate(() => nodeStream(join(folder, "big.bin"), source())),
    [wfa]: (folder) => rate(() => wfaStream(join(folder, "big.bin"), source())),
  };
}

/** The stream gets a large buffer, which makes it faster than with the default. */
async function nodeStream(file, source) {
  const temp = temporary(file);
  const hash = createHash("sha256");
  const output = createWriteStream(temp, { highWaterMark: MiB });
  for await (const chunk of source) {
    hash.update(chunk);
    if (!output.write(chunk)) await once(output, "drain");
  }
  output.end();
  await finished(output);
  await rename(temp, file);
  return { bytes: output.bytesWritten, sha256: hash.digest("hex") };
}

/** It takes no stream: the whole content must be in memory first. */
async function wfaStream(file, source) {
  const chunks = [];
  for await (const chunk of source) chunks.push(chunk);
  return wfaWrite(file, Buffer.concat(chunks));
}
