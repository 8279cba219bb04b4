// Brings what the addon tells into the public shapes: fields without a value are absent, JSON text is parsed, times are Dates.
import type { ArtifactRef, FileChange, FileEntry, FileRef, SessionInfo } from "../index.js";
import type { NativeArtifact, NativeEntry, NativeFileChange, NativeSessionInfo, NativeWritten } from "./native.js";

export function fileRef({ path, bytes, sha256, mediaType, artifact }: NativeWritten): FileRef {
  const ref: FileRef = { path, bytes, sha256 };
  if (mediaType !== undefined) ref.mediaType = mediaType;
  if (artifact !== undefined) ref.artifact = artifactRef(artifact);
  return ref;
}

export function artifactRef({ id, path, bytes, sha256, mediaType, name, metadata }: NativeArtifact): ArtifactRef {
  const ref: ArtifactRef = { id, path, bytes, sha256 };
  if (mediaType !== undefined) ref.mediaType = mediaType;
  if (name !== undefined) ref.name = name;
  if (metadata !== undefined) ref.metadata = parse(metadata);
  return ref;
}

export function fileEntry(native: NativeEntry): FileEntry {
  const entry: FileEntry = { path: native.path, kind: native.kind };
  if (native.bytes !== undefined) entry.bytes = native.bytes;
  if (native.updatedAt !== undefined) entry.updatedAt = new Date(native.updatedAt);
  if (native.mediaType !== undefined) entry.mediaType = native.mediaType;
  if (native.sha256 !== undefined) entry.sha256 = native.sha256;
  if (native.artifact !== undefined) entry.artifact = artifactRef(native.artifact);
  return entry;
}

export function sessionInfo(native: NativeSessionInfo, state: SessionInfo["state"]): SessionInfo {
  const info: SessionInfo = {
    id: native.id,
    state,
    createdAt: new Date(native.createdAt),
    updatedAt: new Date(native.updatedAt),
    bytes: native.bytes,
    files: native.files,
    pendingChanges: native.pendingChanges,
  };
  if (native.metadata !== undefined) info.metadata = parse(native.metadata);
  return info;
}

export function fileChange({ path, change, before, after }: NativeFileChange): FileChange {
  return { path, change, ...(before && { before: { ...before } }), ...(after && { after: { ...after } }) };
}

function parse(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
