// What tests write: bytes, and chunks of them as streams and iterables.

export const MIB = 2 ** 20;
export const bytes = (length, seed = 1) =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 0xff);
export const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

export const big = bytes(3 * MIB + 12_345);
export async function* later(chunks) {
  for (const chunk of chunks) {
    await turn();
    yield chunk;
  }
}
export function* now(chunks) {
  yield* chunks;
}
export const web = (chunks, type) => {
  const left = [...chunks];
  return new ReadableStream({
    type,
    pull: (controller) => (left.length > 0 ? controller.enqueue(left.shift()) : controller.close()),
  });
};
export const cut = (all, size) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
export const words = new Uint16Array(bytes(64).buffer, 8, 20);
export const shared = (all) => {
  const view = new Uint8Array(new SharedArrayBuffer(all.length + 4), 4);
  view.set(all);
  return view;
};
