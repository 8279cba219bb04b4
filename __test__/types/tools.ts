// The entry "./tools".
import type { FileRef, HarnessSession, Turn } from "@little-stack/files";
import {
  DEFAULT_MAX_BYTES,
  type FileSystem,
  type FileToolName,
  type FsErrorCode,
  type FsInfo,
  type FsTarget,
  type FsVersion,
  type FsWriteIntent,
  type ObservationPolicy,
  type TruncationResult,
  fileTools,
  formatSize,
  readBeforeWrite,
  sandboxFiles,
  sessionFileSystem,
  truncateHead,
  truncateLine,
  truncateTail,
} from "@little-stack/files/tools";
import { same } from "./expect.js";

declare const session: HarnessSession<{ userId: string }>;
declare const turn: Turn;

export function tools(): void {
  same<keyof ReturnType<typeof fileTools>, FileToolName>();
  const named = fileTools({ names: { read: "read_file", todo_write: "plan" } });
  same<keyof typeof named, Exclude<FileToolName, "read" | "todo_write"> | "read_file" | "plan">();
  same<typeof named.read_file.description, string>();
  const mine = { other: { execute: () => 5 } };
  const all = turn.tools({ ...named, ...mine });
  void [all.read_file.execute, all.other.execute];
  fileTools({
    observation: false,
    limits: { lines: 1, lineCharacters: 1, bytes: 1024, entries: 1, matches: 1 },
    plan: { dir: { host: "plans" } },
  });
  fileTools({ observation: readBeforeWrite(), plan: { dir: "/session/plans" } });
  // @ts-expect-error there is no such tool
  fileTools({ names: { bash: "sh" } });
  // @ts-expect-error false or a policy
  fileTools({ observation: true });
  // @ts-expect-error a tool under its old name is not there
  void named.read;
}

export async function seam(): Promise<void> {
  const files = sessionFileSystem(session);
  same<typeof files, FileSystem>();
  const target = await files.resolve("/session/a");
  same<typeof target, FsTarget>();
  const info = await files.stat(target);
  same<typeof info, FsInfo | undefined>();
  const { version } = await files.readText(target, { signal: AbortSignal.timeout(5) });
  same<typeof version, FsVersion>();
  const { operation, before, ref } = await files.writeText(target, "x", { expected: { replaceIfVersion: version } });
  same<typeof operation, "create" | "update">();
  same<typeof before, string | null>();
  same<typeof ref, FileRef>();
  const { diff } = await files.editText(target, [{ oldString: "a", newString: "b", replaceAll: true }], {
    expected: { version },
  });
  same<typeof diff, string>();
  for await (const text of files.streamText(target)) same<typeof text, string>();
  const [entry] = await files.listDir(target);
  same<NonNullable<typeof entry>["type"], "file" | "directory" | "other" | "symlink">();
  // @ts-expect-error the cap is required
  await files.readBytes(target, {});
  // @ts-expect-error a version is opaque
  await files.writeText(target, "x", { expected: { replaceIfVersion: "v1" } });
  // @ts-expect-error one or the other
  const intent: FsWriteIntent = {};
  void [intent, sandboxFiles(session)];
}

/** A policy of the developer's own. */
export const onlyNew: ObservationPolicy = {
  writeIntent: () => ({ createIfAbsent: true }),
  editIntent: (_target, _actor, next) => next(),
  observed: () => {},
};

export function truncation(): string {
  same<typeof DEFAULT_MAX_BYTES, 51200>();
  const result = truncateHead("a", { maxLines: 5 });
  same<typeof result, TruncationResult>();
  same<TruncationResult["truncatedBy"], "lines" | "bytes" | null>();
  return truncateLine(truncateTail("a").content, 5) + formatSize(5);
}

export const code: FsErrorCode = "FS_NOT_OBSERVED";
