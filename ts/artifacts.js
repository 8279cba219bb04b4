import { HarnessFileError, unwrap } from "./errors.js";
import { artifactRef } from "./facts.js";
import { checkPath } from "./file-options.js";
import { drain } from "./listing.js";
export function artifacts(core, files) {
    return {
        list: () => core.perform({ name: "artifacts.list", path: undefined }, async () => {
            const listing = unwrap(await core.native.artifacts());
            const refs = await drain(listing, ({ artifact }) => artifact && artifactRef(artifact));
            return refs.filter((ref) => ref !== undefined);
        }),
        read: async (idOrPath, options) => {
            await core.perform({ name: "artifacts.read", path: idOrPath }, () => expectArtifact(core, idOrPath));
            return files.read(idOrPath, options);
        },
    };
}
/** An id is the artifact's path. */
async function expectArtifact(core, id) {
    const path = checkPath(id);
    const known = path.startsWith("/") && unwrap(await core.native.stat(path)).artifact !== undefined;
    if (!known)
        throw new HarnessFileError("FS_NOT_FOUND", "No such artifact (ENOENT)");
}
