// Files as they cross into the addon and out of it.
import type { Failure } from "./failure.js";

export interface NativeWriteOptions {
  /** Wins over the extension. */
  mediaType?: string;
  /** When the extension says nothing. */
  fallbackMediaType?: string;
  source: string;
  origin: "host" | "tool" | "message";
  /** JSON text of an object. */
  metadata?: string;
  artifact?: boolean;
  artifactName?: string;
  artifactMetadata?: string;
  ifMatch?: string;
  ifNoneMatch?: boolean;
  turnId?: string;
}

export interface NativeArtifact {
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  name?: string;
  /** JSON text of an object. */
  metadata?: string;
}

export interface NativeWritten {
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  artifact?: NativeArtifact;
}

export interface NativeReadOptions {
  start?: number;
  end?: number;
  maxBytes: number;
  utf8: boolean;
}

export interface NativeFileData {
  path: string;
  bytes: number;
  sha256: string;
  mediaType?: string;
  content: Uint8Array;
}

export interface NativeEntry {
  path: string;
  kind: "file" | "directory" | "symlink" | "other";
  bytes?: number;
  /** Milliseconds. */
  updatedAt?: number;
  mediaType?: string;
  sha256?: string;
  artifact?: NativeArtifact;
}

export interface NativeSessionInfo {
  id: string;
  state: string;
  createdAt: number;
  updatedAt: number;
  bytes: number;
  files: number;
  /** Of Persistent Dirs, as of the last scan. */
  pendingChanges: number;
  /** JSON text of an object. */
  metadata?: string;
}

export interface NativeListOptions {
  recursive: boolean;
  pattern?: string;
  limit?: number;
  after?: string;
}

export interface NativeRemoveOptions {
  recursive: boolean;
  force: boolean;
  ifMatch?: string;
  source: string;
  turnId?: string;
}

export interface NativeWrite {
  /** One at a time. `batch` is not copied and must not be touched until the promise settles. */
  push(batch: Uint8Array): Promise<null | Failure>;
  /** Publishes; `batch` is the last one, if any. */
  finish(batch?: Uint8Array): Promise<NativeWritten | Failure>;
  /** Drops what was staged; done when it settles. Safe at any time. */
  abort(): Promise<null>;
}

export interface NativeRead {
  readonly path: string;
  readonly bytes: number;
  /** null at the end. */
  next(maxBytes: number): Promise<Uint8Array | null | Failure>;
  /** Safe at any time; while a `next` is under way it may have to be called again after it. */
  close(): void;
}

/** `take` gives the batch that is ready (at most 512 entries); then, unless `done`, `next` readies another. */
export interface NativeListing {
  take(): NativeEntry[];
  readonly done: boolean;
  next(): Promise<null | Failure>;
}
