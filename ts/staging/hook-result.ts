// What a hook told, checked and completed.
import type { FileRef, InputFile, StagedFile } from "../../index.js";
import * as check from "../check.js";
import { noticeOf } from "./notice.js";

export interface Outcome {
  readonly staged: StagedFile[];
  readonly notice: string;
  /** For each input file, whether the model is to get it as well. */
  readonly kept: boolean[];
  /** JSON text of an object. */
  readonly metadata: string | undefined;
}

export function hookResult(result: unknown, messageId: string, inputFiles: readonly InputFile[]): Outcome {
  const given = check.readOptions(result, (read) => read, "result of stageMessage");
  const staged = stagedFiles(given, messageId, inputFiles);
  const notice = given["notice"];
  if (notice !== undefined && typeof notice !== "string") throw check.invalidOption("notice", "a string", notice);
  // A hook that tells of nothing has done nothing, so the model gets the files as they came.
  const idle = staged.length === 0 && (notice ?? "") === "";
  return {
    staged,
    notice: (notice ?? noticeOf(staged)).toWellFormed(),
    kept: idle ? inputFiles.map(() => true) : keptFiles(given["keep"], inputFiles),
    metadata: check.jsonObject(given, "metadata"),
  };
}

function keptFiles(keep: unknown, inputFiles: readonly InputFile[]): boolean[] {
  if (keep === undefined || typeof keep === "boolean") return inputFiles.map(() => keep ?? false);
  if (typeof keep !== "function") throw check.invalidOption("keep", "a boolean or a function of an input file", keep);
  return inputFiles.map((file) => Boolean((keep as (file: InputFile) => unknown)(file)));
}

function stagedFiles(given: check.Options, messageId: string, inputFiles: readonly InputFile[]): StagedFile[] {
  const files = given["stagedFiles"] ?? [];
  if (!Array.isArray(files)) throw check.invalidOption("stagedFiles", "an array of FileRefs", files);
  const staged: StagedFile[] = [];
  for (const [at, file] of (files as unknown[]).entries()) {
    const { path, bytes, sha256, originalName, ...more } = Object(file) as Partial<StagedFile>;
    if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") {
      throw check.invalidOption(`stagedFiles[${at}]`, "a FileRef, as a write gives it", file);
    }
    const name = typeof originalName === "string" ? originalName : originalNameOf({ path }, inputFiles);
    staged.push({ path, bytes, sha256, ...more, messageId, originalName: name });
  }
  return staged;
}

function originalNameOf({ path }: Pick<FileRef, "path">, inputFiles: readonly InputFile[]): string {
  const last = path.slice(path.lastIndexOf("/") + 1);
  return inputFiles.find(({ safeName }) => safeName === last)?.name ?? last;
}
