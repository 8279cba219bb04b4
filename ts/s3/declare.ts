// `s3Dir`. Light: the SDK is loaded when the first request is made.
import type { StoreDir } from "../../index.js";
import * as check from "../check.js";
import { storeDir } from "../persistent/dirs.js";
import type { ScopeContext } from "../persistent/store.js";
import type { Client } from "./bucket.js";
import { type Prefix, S3Store, checkPrefix } from "./store.js";

const DEFAULT_CONCURRENCY = 16;
const MAX_CONCURRENCY = 256;
/** S3 has 63, or the ARN of an access point; other servers have names of their own. */
const MAX_BUCKET_LENGTH = 140;

export function s3Dir<T = unknown>(dir: Parameters<typeof import("../../s3.js").s3Dir<T>>[0]): StoreDir<T> {
  return check.readOptions(dir, (given) => {
    const bucket = check.label(given, "bucket", MAX_BUCKET_LENGTH);
    if (bucket === undefined) throw check.invalidOption("bucket", "the name of a bucket", bucket);
    const store = new S3Store({
      client: client(given),
      bucket,
      prefix: prefix(given),
      concurrency: concurrency(given),
      conditional: conditional(given),
    });
    return storeDir<T>(given, store);
  });
}

function client(given: check.Options): Client {
  const value = given["client"];
  if (typeof (Object(value) as Partial<Client>).send === "function") return value as Client;
  throw check.invalidOption("client", "an S3Client of @aws-sdk/client-s3", value);
}

function prefix(given: check.Options): Prefix {
  const value = given["prefix"];
  return typeof value === "function" ? (value as (ctx: ScopeContext) => unknown).bind(given) : checkPrefix(value);
}

function concurrency(given: check.Options): number {
  const value = check.count(given, "concurrency") ?? DEFAULT_CONCURRENCY;
  if (value >= 1 && value <= MAX_CONCURRENCY) return value;
  throw check.invalidOption("concurrency", `an integer of 1 to ${MAX_CONCURRENCY}`, value);
}

function conditional(given: check.Options): boolean {
  const value = given["conditional"];
  if (value === undefined || typeof value === "boolean") return value ?? true;
  throw check.invalidOption("conditional", "false, or left out", value);
}
