// Gets a file that is behind a URL, by the callback of the host.
import type { FileContent } from "../../index.js";
import { type Cancellation, ignore } from "../cancellation.js";
import { invalidOption } from "../check.js";
import { HarnessFileError, nameOf } from "../errors.js";
import { mediaTypeOf } from "./media-type.js";
import { Unread } from "./unread.js";

export type FetchFile = (
  url: URL,
  part: unknown,
) => Promise<{ content: FileContent; mediaType?: string; name?: string }>;

export interface Fetched {
  readonly unread: Unread;
  readonly mediaType: string | undefined;
  readonly name: string | undefined;
}

export async function fetchFile(
  fetchIt: FetchFile,
  url: URL,
  part: unknown,
  cancellation: Cancellation | undefined,
): Promise<Fetched> {
  const fetching = Promise.resolve().then(async () => fetched(await fetchIt(new URL(url), part)));
  try {
    return await (cancellation === undefined ? fetching : Promise.race([fetching, cancellation.aborted]));
  } catch (error) {
    if (!(error instanceof HarnessFileError)) {
      throw new HarnessFileError("FS_INVALID_CONTENT", `fetchFile failed (${nameOf(error)})`, { cause: error });
    }
    // Aborted, maybe: what still comes is nobody's.
    fetching.then(({ unread }) => unread.cancel(error)).catch(ignore);
    throw error;
  }
}

function fetched(result: unknown): Fetched {
  const { content, mediaType, name } = Object(result) as { content?: FileContent; mediaType?: unknown; name?: unknown };
  if (content === undefined)
    throw invalidOption("fetchFile's result", "an object { content, mediaType?, name? }", result);
  return {
    unread: new Unread(content),
    mediaType: mediaTypeOf(mediaType),
    name: typeof name === "string" && name !== "" ? name : undefined,
  };
}
