// What happens to a message's files when the host has no hook of its own.
import type { FileRef, FileWriter, InputFile, StageMessageResult } from "../../index.js";
import { isFull } from "./media-type.js";

export async function defaultHook(
  { inputFiles, files }: { inputFiles: readonly InputFile[]; files: FileWriter },
  folder: string,
): Promise<StageMessageResult> {
  const stagedFiles: FileRef[] = [];
  for (const { safeName, mediaType, content } of inputFiles) {
    const options = isFull(mediaType) ? { mediaType } : {};
    stagedFiles.push(await files.write(`${folder}/${safeName}`, content, options));
  }
  return { stagedFiles };
}
