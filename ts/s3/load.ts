// A load: the keys below the prefix, page by page, and the contents of what changed.
import { ignore } from "../cancellation.js";
import { HarnessFileError } from "../errors.js";
import { forEach } from "../persistent/parallel.js";
import type { Incoming } from "../persistent/store.js";
import type { Bucket } from "./bucket.js";
import { fetchInto } from "./fetch.js";
import { Room } from "./room.js";
import type { Operations } from "./sdk.js";

type Page = Operations["ListObjectsV2"][1];
export interface Listed {
  readonly key: string;
  readonly path: string;
  readonly version?: string;
}

export async function loadPrefix(
  bucket: Bucket,
  prefix: string,
  incoming: Incoming,
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const requests = new Room(concurrency); // the next page is one of them
  const ask = (token?: string): Promise<Page> => {
    const more = token === undefined ? {} : { ContinuationToken: token };
    // URL encoding: a key may hold characters that XML cannot.
    const input = { Prefix: prefix, EncodingType: "url" as const, ...more };
    return requests.during(1, () => bucket.ask("ListObjectsV2", input, signal));
  };
  const above = new FilesAbove();
  let token: string | undefined;
  for (let page = await ask(); ;) {
    token = tokenAfter(page, token);
    const next = token === undefined ? undefined : ask(token); // while this one is worked on
    next?.catch(ignore); // seen below, unless the load fails before
    const listed = listedOf(page, prefix).map((entry) => (above.includes(entry.path) ? unnamable(entry) : entry));
    const states = await incoming.list(listed);
    const wanted = listed.filter((_, at) => states[at] === "wanted");
    await forEach(wanted, concurrency, (entry) => requests.during(1, () => fetchInto(incoming, bucket, entry, signal)));
    if (next === undefined) return;
    page = await next;
  }
}

/** What is not listed counts as gone, so that a listing must not end early; nor may it go round for ever. */
function tokenAfter(page: Page, before: string | undefined): string | undefined {
  if (page.IsTruncated !== true) return undefined;
  const token = page.NextContinuationToken;
  if (token === undefined) throw listingError("ends early, and does not say how it goes on");
  if (token === before) throw listingError("goes on where it went on before");
  return token;
}

function listingError(how: string): HarnessFileError {
  return new HarnessFileError("FS_LOAD_FAILED", `The server's listing ${how}`);
}

function listedOf({ Contents = [], EncodingType }: Page, prefix: string): Listed[] {
  const found: Listed[] = [];
  for (const { Key, ETag } of Contents) {
    if (Key === undefined) continue;
    const key = EncodingType === "url" ? decoded(Key) : Key;
    if (!key.startsWith(prefix)) continue;
    found.push({ key, path: key.slice(prefix.length), ...(ETag !== undefined && { version: ETag }) });
  }
  return found;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key; // not encoded after all
  }
}

/** Keys come sorted, so the files that a path may lie below are among those before it that it begins with. */
class FilesAbove {
  #files: string[] = [];

  /** Whether a file among the paths so far is a folder of this one. */
  includes(path: string): boolean {
    this.#files = this.#files.filter((file) => path.startsWith(file));
    if (this.#files.some((file) => path[file.length] === "/")) return true;
    if (path !== "" && !path.endsWith("/")) this.#files.push(path);
    return false;
  }
}

/** Nothing can be named so: it is counted with those that no path can be. */
function unnamable(entry: Listed): Listed {
  return { ...entry, path: `${entry.path}/` };
}
