// What S3 answers when it does not do what was asked, and how that is told.
import { HarnessFileError, nameOf } from "../errors.js";
import type { Operation } from "./sdk.js";

/** A request that failed, after all tries of the client. */
export class RequestFailed extends Error {
  readonly operation: Operation;
  /** None when no answer came. */
  readonly status: number | undefined;
  /** S3's word for it, such as "SlowDown". */
  readonly reason: string;
  /** Of the file, where it is about one. */
  readonly path: string | undefined;
  override readonly cause: unknown;

  constructor(operation: Operation, cause: unknown, path?: string) {
    super(`${operation} failed`);
    const { name, Code, $metadata } = Object(cause) as { name?: unknown; Code?: unknown; $metadata?: unknown };
    const { httpStatusCode } = Object($metadata) as { httpStatusCode?: unknown };
    this.operation = operation;
    this.status = typeof httpStatusCode === "number" ? httpStatusCode : undefined;
    this.reason = [Code, name].find((each) => typeof each === "string" && /^[\w.]{1,64}$/.test(each)) as string;
    this.reason ??= nameOf(cause);
    this.path = path;
    this.cause = cause;
  }

  of(path: string): RequestFailed {
    return new RequestFailed(this.operation, this.cause, path);
  }
}

/** A content that did not come whole. */
export class ContentBroke extends Error {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super("The content broke off", { cause });
    this.path = path;
  }
}

/** The condition does not hold, or something else is done to the object at this moment: nothing was applied. */
export function isRefused({ status, reason }: RequestFailed): boolean {
  return status === 412 || status === 409 || isMissing({ status, reason });
}

/** There is no such object. */
export function isMissing({ status, reason }: Pick<RequestFailed, "status" | "reason">): boolean {
  return status === 404 && reason !== "NoSuchBucket" && reason !== "NoSuchUpload";
}

/** The server does not know what was asked for. */
export function isUnknownToServer({ status }: RequestFailed): boolean {
  return status === 501;
}

const EXPIRED = "the credentials have expired: the client needs new ones";
const NO_CREDENTIALS = "the client has no valid credentials";
const CLOCK = "the clock of this machine differs too much from the server's";
const BUSY = "S3 asks to slow down; the client's tries are used up";
const FULL = "the server has no more room";
const REGION = "the bucket is in another region than the client";

const WHY: Readonly<Record<string, string>> = {
  ExpiredToken: EXPIRED,
  ExpiredTokenException: EXPIRED,
  TokenRefreshRequired: EXPIRED,
  RequestExpired: CLOCK,
  RequestTimeTooSkewed: CLOCK,
  CredentialsProviderError: NO_CREDENTIALS,
  TokenProviderError: NO_CREDENTIALS,
  InvalidToken: NO_CREDENTIALS,
  InvalidAccessKeyId: NO_CREDENTIALS,
  SignatureDoesNotMatch: NO_CREDENTIALS,
  AccessDenied: "the client's credentials do not allow it",
  NoSuchBucket: "there is no such bucket",
  SlowDown: BUSY,
  ServiceUnavailable: BUSY,
  Throttling: BUSY,
  ThrottlingException: BUSY,
  TooManyRequestsException: BUSY,
  RequestLimitExceeded: BUSY,
  PermanentRedirect: REGION,
  AuthorizationHeaderMalformed: REGION,
  RequestTimeout: "the content took too long to arrive",
  QuotaExceeded: FULL,
  XMinioStorageFull: FULL,
  InvalidObjectState: "an object is archived and must be restored first",
  KeyTooLongError: "the path is too long for a key",
  NoSuchUpload: "the upload was aborted by somebody else",
  NotImplemented: "the server does not know it; one without conditional writes needs `conditional: false`",
};

/** `path`: of the file, where it is about one, and the error does not say. */
export function told(
  code: "FS_LOAD_FAILED" | "FS_COMMIT_FAILED",
  bucket: string,
  error: unknown,
  path?: string,
): HarnessFileError {
  if (error instanceof HarnessFileError) {
    if (error.code !== "FS_LOAD_FAILED" || error.code === code) return error;
    return new HarnessFileError(code, error.message.replace(/^\[\w+\] /, ""), { cause: error.cause });
  }
  if (error instanceof ContentBroke) {
    const { path: name, cause } = error;
    return new HarnessFileError(code, `The content of file ${name} broke off in bucket ${bucket} (${nameOf(cause)})`, {
      cause,
    });
  }
  if (!(error instanceof RequestFailed)) {
    const message = `There is no sense in an answer of bucket ${bucket}${about(path)} (${nameOf(error)})`;
    return new HarnessFileError(code, message, { cause: error });
  }
  const { operation, reason, status, cause } = error;
  const where = bucket + about(error.path ?? path);
  const answer = status === undefined ? reason : `${reason}, HTTP ${status}`;
  const why = Object.hasOwn(WHY, reason) ? WHY[reason] : general(reason, status);
  return new HarnessFileError(code, `${operation} failed in bucket ${where} (${answer}): ${why}`, { cause });
}

function about(path: string | undefined): string {
  return path === undefined ? "" : `, file ${path}`;
}

function general(reason: string, status: number | undefined): string | undefined {
  if (status === undefined) return "there was no answer";
  if (reason.startsWith("KMS.")) return "the key that encrypts the objects cannot be used";
  if (status === 503 || status === 429) return BUSY;
  if (status === 401 || status === 403) return WHY["AccessDenied"];
  if (status === 301 || status === 307) return REGION;
  // 200: a long request says only at its end that it failed.
  return status >= 500 || status === 200 ? "the server failed" : "the server refuses it";
}
