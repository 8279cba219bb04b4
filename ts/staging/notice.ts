// What the model is told of files that were staged. Bounded, however many there are; the same for the same files.
import type { FileRef } from "../../index.js";

const MAX_LISTED = 50;

export function noticeOf(files: ReadonlyArray<Pick<FileRef, "path" | "bytes" | "mediaType">>): string {
  if (files.length === 0) return "";
  const listed = files.slice(0, MAX_LISTED).map(({ path, bytes, mediaType }) => {
    const size = `${bytes.toLocaleString("en-US")} ${bytes === 1 ? "byte" : "bytes"}`;
    return `- ${path} (${mediaType === undefined ? size : `${size}, ${mediaType}`})`;
  });
  const more = files.length - listed.length;
  if (more > 0) listed.push(`- and ${more} more in the same ${more === 1 ? "folder" : "folders"}`);
  const what =
    files.length === 1
      ? "a file. It is saved in the session as"
      : `${files.length} files. They are saved in the session as`;
  return `The user attached ${what}:\n${listed.join("\n")}`;
}
