// Commits that are easy to judge: each writes its own tag into every file, makes a file named after it and removes the one
// of the commit before. A dir that holds two tags holds parts of two commits.
import assert from "node:assert/strict";
import { tagOf } from "../content.mjs";

export const DIR = "/persistent/user";
export const SIZE = 3000;

/** Names in several folders. */
export const roundFiles = (count) => Array.from({ length: count }, (_, n) => `${n % 3}/${n % 2}/${n}.bin`);

/** `held`: name → bytes. Gives the round that all of it is of, undefined for an empty dir. */
export function roundOf(held, count, message = "") {
  if (held.size === 0) return undefined;
  const tags = new Map();
  for (const [name, bytes] of held) {
    assert.equal(bytes.length, SIZE, `${name} is not whole ${message}`);
    const tag = tagOf(bytes);
    tags.set(tag, [...(tags.get(tag) ?? []), name]);
  }
  assert.equal(tags.size, 1, `parts of several commits: ${JSON.stringify([...tags])} ${message}`);
  const [tag] = tags.keys();
  assert.deepEqual([...held.keys()].sort(), [...roundFiles(count), `new/${tag}.txt`].sort(), message);
  return Number(tag.slice(1));
}
