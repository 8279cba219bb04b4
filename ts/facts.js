export function fileRef({ path, bytes, sha256, mediaType, artifact }) {
    const ref = { path, bytes, sha256 };
    if (mediaType !== undefined)
        ref.mediaType = mediaType;
    if (artifact !== undefined)
        ref.artifact = artifactRef(artifact);
    return ref;
}
export function artifactRef({ id, path, bytes, sha256, mediaType, name, metadata }) {
    const ref = { id, path, bytes, sha256 };
    if (mediaType !== undefined)
        ref.mediaType = mediaType;
    if (name !== undefined)
        ref.name = name;
    if (metadata !== undefined)
        ref.metadata = parse(metadata);
    return ref;
}
export function fileEntry(native) {
    const entry = { path: native.path, kind: native.kind };
    if (native.bytes !== undefined)
        entry.bytes = native.bytes;
    if (native.updatedAt !== undefined)
        entry.updatedAt = new Date(native.updatedAt);
    if (native.mediaType !== undefined)
        entry.mediaType = native.mediaType;
    if (native.sha256 !== undefined)
        entry.sha256 = native.sha256;
    if (native.artifact !== undefined)
        entry.artifact = artifactRef(native.artifact);
    return entry;
}
export function sessionInfo(native) {
    const info = {
        id: native.id,
        state: "idle", // there are no turns yet, nor anything that could be pending
        createdAt: new Date(native.createdAt),
        updatedAt: new Date(native.updatedAt),
        bytes: native.bytes,
        files: native.files,
        pendingChanges: 0,
    };
    if (native.metadata !== undefined)
        info.metadata = parse(native.metadata);
    return info;
}
function parse(text) {
    return JSON.parse(text);
}
