// The entry "@little-stack/files/s3": Persistent Dirs on S3 and servers that speak its protocol. Needs the package
// `@aws-sdk/client-s3`, version 3, which it loads when it first asks the bucket for something. Kept by hand; the compiler
// checks ts/s3.ts against it.
import type { CommitMode, StoreDir } from "./index.js";

/**
 * A dir whose files are plain objects, each at its path below `prefix`, readable by any other tool. A load lists the prefix and
 * fetches what has another ETag; a commit sends each file by itself, on the condition that its object is still the one that was
 * loaded: what others changed meanwhile is a conflict, never overwritten. A commit is so not all or nothing to others: one that
 * breaks off goes on where it stopped. Each object carries the sha256 of its content as metadata, and the file's media type.
 *
 * Keys that no harness path can be are left alone and counted by the event of the load: a "folder" (a key that ends in "/"), an
 * empty or `..` segment, a control character, an object below one that is a file.
 *
 * The client's own settings decide on region, credentials, retries and timeouts. What S3 refuses is FS_LOAD_FAILED or
 * FS_COMMIT_FAILED that says why, with the client's error as its `cause`.
 *
 * @throws FS_INVALID_OPTION
 */
export function s3Dir<T = unknown>(dir: {
  /** An `S3Client` of `@aws-sdk/client-s3`. */
  client: { send(command: any, options?: any): Promise<any> };
  bucket: string;
  /**
   * Ends with "/". Names, with the bucket, the scope: a change is only committed to the one it was loaded from. A function is
   * called for each load and commit; what it makes of an `extraBody` must not be the prefix of somebody else.
   */
  prefix: string | ((ctx: { extraBody?: T; sessionId: string }) => string);
  /** Below `/persistent/`, such as "/persistent/user". */
  harnessDir: string;
  /** Default "after-turn". */
  commit?: CommitMode;
  /** Requests at once of one load or commit, 1 to 256; default 16. */
  concurrency?: number;
  /**
   * `false` only for servers without If-Match and If-None-Match. Each object is then looked at before it is written or deleted,
   * and a change that another one makes between the two is overwritten.
   */
  conditional?: false;
}): StoreDir<T>;
