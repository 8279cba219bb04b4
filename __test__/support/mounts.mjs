// File systems made for one test. All need root; where that, or the mount, is not to be had, the test is skipped with the reason.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, tempDir } from "./host.mjs";
import { isRoot } from "./tree.mjs";

/** An empty folder on a tmpfs of this size ("1m"), or undefined when the test was skipped. */
export const tmpfs = (t, size) => mounted(t, ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs"]);

/** An empty folder on a ramfs, whose time stamps are those of a coarse clock. */
export const ramfs = (t) => mounted(t, ["-t", "ramfs", "ramfs"]);

/**
 * An ext4 image that is mounted, and what a power cut would leave of it: { folder, cut() }. `cut()` copies the image
 * while it is in use, mounts the copy and gives its folder. Nothing is written back by the clock (commit=300).
 */
export function ext4(t, megabytes = 96) {
  if (!allowed(t)) return undefined;
  const base = tempDir(t);
  const image = path.join(base, "disk.img");
  fs.writeFileSync(image, "");
  fs.truncateSync(image, megabytes * 2 ** 20);
  try {
    execFileSync("mkfs.ext4", ["-q", "-F", image], { stdio: "pipe" });
  } catch (error) {
    t.skip(`no ext4 image can be made: ${error.message}`);
    return undefined;
  }
  const folder = mounted(t, ["-o", "loop,commit=300", image]);
  if (folder === undefined) return undefined;
  let cuts = 0;
  const cut = () => {
    const copy = path.join(base, `cut-${++cuts}.img`);
    fs.copyFileSync(image, copy);
    return mounted(t, ["-o", "loop", copy]);
  };
  return { folder, cut };
}

function allowed(t) {
  if (isRoot && process.platform === "linux") return true;
  t.skip("mounting a file system needs Linux and root");
  return false;
}

function mounted(t, args) {
  if (!allowed(t)) return undefined;
  const folder = path.join(tempDir(t), "mount");
  fs.mkdirSync(folder);
  try {
    execFileSync("mount", [...args, folder], { stdio: "pipe" });
  } catch (error) {
    t.skip(`cannot mount: ${String(error.stderr ?? error.message).trim()}`);
    return undefined;
  }
  after(t, () => {
    try {
      execFileSync("umount", [folder], { stdio: "pipe" });
    } catch {
      execFileSync("umount", ["-l", folder], { stdio: "pipe" });
    }
  });
  return folder;
}
