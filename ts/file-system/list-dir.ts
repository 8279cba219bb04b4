// The children of a folder, with their targets.
import type { FsInfo, FsTarget } from "../../tools.js";
import { drain } from "../listing.js";
import type { NativeEntry, NativeTarget } from "../native.js";
import type { Access } from "./access.js";

export interface Child {
  name: string;
  type: FsInfo["type"] | "symlink";
  target: FsTarget;
  size?: number;
}

export async function listDir(access: Access, folder: FsTarget): Promise<Child[]> {
  const children = await access.call("listDir", folder.displayPath, undefined, async (native, path) => {
    const listing = await native.list(path, { recursive: false });
    return "failure" in listing ? listing : drain(listing, (entry) => childOf(entry, folder));
  });
  for (const child of children) {
    if (child.type === "symlink") child.target = await linkTarget(access, child.target);
  }
  return children;
}

export function targetOf({ key, path }: NativeTarget): FsTarget {
  return Object.freeze({ targetKey: key, displayPath: path });
}

function childOf({ path, kind, bytes }: NativeEntry, folder: FsTarget): Child {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const child: Child = { name, type: kind, target: targetOf({ key: `${folder.targetKey}/${name}`, path }) };
  if (bytes !== undefined) child.size = bytes;
  return child;
}

/** One that leads nowhere is its own target. */
async function linkTarget(access: Access, own: FsTarget): Promise<FsTarget> {
  return access.target("listDir", own.displayPath).then(targetOf, () => own);
}
