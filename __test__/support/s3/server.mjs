// The S3 server of a test file: one for all its tests, started by the first that needs it.
import { missingS3, startS3 } from "../../../scripts/engines/s3.mjs";

let starting; // ends with this program

/** undefined, and the test skipped, where there is none; in CI that is a failure. */
export async function s3Server(t) {
  const missing = missingS3();
  if (missing === undefined) return (starting ??= startS3());
  if (process.env.CI) throw new Error(missing);
  t.skip(missing);
  return undefined;
}
