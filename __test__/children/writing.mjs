// writing.mjs DATADIR ID HOW TAG: says "writing" and writes for as long as it lives: one 64 MiB stream after the other
// over /session/a.bin, or many small files: new, replaced, removed. Each content holds only the tag.
import { localHost } from "@little-stack/files";
import { tagged } from "../support/content.mjs";

const [dataDir, id, how, tag] = process.argv.slice(2);
const host = localHost({ dataDir });
const { files } = await host.sessions.getOrCreate({ id });
const piece = tagged(tag, 1 << 16);
const stream = async function* () {
  for (let n = 0; n < 1024; n++) yield piece;
};
console.log("writing");
if (how === "stream") for (;;) await files.write("/session/a.bin", stream());
const work = async (lane) => {
  for (let n = 0; ; n++) {
    const content = tagged(tag, 1000 * (1 + ((n * 7 + lane) % 20)));
    await files.write(`/session/new/${tag}-${lane}/er/${n}.bin`, content);
    await files.write(`/session/same/${n % 5}.bin`, content);
    await files.write(`/artifacts/same/${n % 3}.bin`, content);
    await files.write(`/session/gone/${lane}.bin`, content);
    await files.remove(`/session/gone/${lane}.bin`);
    if (n % 50 === 49) await files.remove(`/session/new/${tag}-${lane}`, { recursive: true });
  }
};
await Promise.all([0, 1, 2, 3].map(work));
