// What the parts of this folder know: a dir of the host, its session, and the call that is under way.
import type { CommitMode, LoadContext, PersistentDirCommitResult } from "../../index.js";
import type { Cancellation } from "../cancellation.js";
import type { SessionEvents } from "../events.js";
import type { NativeSession } from "../native.js";
import type { SourceDir } from "./dirs.js";
import type { Store } from "./store.js";

export interface Dir {
  /** As the addon knows it. */
  readonly index: number;
  readonly harnessDir: string;
  readonly commit: CommitMode;
  readonly behind: { readonly sourceDir: SourceDir } | { readonly store: Store };
}

export interface DirSession {
  readonly native: NativeSession;
  readonly events: SessionEvents;
  /** Names the session among all of this process. */
  readonly key: string;
  /** All of the host. */
  readonly dirs: readonly Dir[];
  /** For a call that the signal ends. */
  cancellation(signal: AbortSignal | undefined): Cancellation | undefined;
  readonly onFailure: (failure: PersistentDirCommitResult & { sessionId: string }) => void;
}

export interface Call {
  readonly extraBody: unknown;
  readonly turnId: string | undefined;
  readonly cancellation: Cancellation | undefined;
}

/** For events. */
export function kindOf({ behind }: Dir): string {
  return "store" in behind ? behind.store.kind : "local";
}

export function contextOf({ native }: DirSession, { harnessDir }: Dir, { extraBody, cancellation }: Call): LoadContext {
  return {
    ...(extraBody !== undefined && { extraBody }),
    sessionId: native.id,
    harnessDir,
    ...(cancellation !== undefined && { abortSignal: cancellation.signal }),
  };
}

/** Of a path in the dir, from the dir on; segments that the grammar drops are dropped. "" for the dir itself. */
export function relative({ harnessDir }: Dir, path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.slice(harnessDir.split("/").length - 1).join("/");
}

export function whole({ harnessDir }: Dir, path: string): string {
  return `${harnessDir}/${path}`;
}
