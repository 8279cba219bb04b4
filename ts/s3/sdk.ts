// The commands of `@aws-sdk/client-s3`. The package is loaded when the first one is sent: who declares a dir need not have it
// in this very process, and importing it takes longer than all of ours.
import type * as Sdk from "@aws-sdk/client-s3";
import { HarnessFileError } from "../errors.js";

/** What is asked of a bucket: input and output of each command. */
export interface Operations {
  ListObjectsV2: [Sdk.ListObjectsV2CommandInput, Sdk.ListObjectsV2CommandOutput];
  HeadObject: [Sdk.HeadObjectCommandInput, Sdk.HeadObjectCommandOutput];
  GetObject: [Sdk.GetObjectCommandInput, Sdk.GetObjectCommandOutput];
  PutObject: [Sdk.PutObjectCommandInput, Sdk.PutObjectCommandOutput];
  DeleteObject: [Sdk.DeleteObjectCommandInput, Sdk.DeleteObjectCommandOutput];
  CreateMultipartUpload: [Sdk.CreateMultipartUploadCommandInput, Sdk.CreateMultipartUploadCommandOutput];
  UploadPart: [Sdk.UploadPartCommandInput, Sdk.UploadPartCommandOutput];
  CompleteMultipartUpload: [Sdk.CompleteMultipartUploadCommandInput, Sdk.CompleteMultipartUploadCommandOutput];
  AbortMultipartUpload: [Sdk.AbortMultipartUploadCommandInput, Sdk.AbortMultipartUploadCommandOutput];
}

export type Operation = keyof Operations;
type Commands = { readonly [Name in Operation as `${Name}Command`]: new (input: Operations[Name][0]) => object };
/** Of the SDK, as far as it is used. */
interface Command {
  readonly middlewareStack: { add(middleware: Middleware, options: { step: "build"; name: string }): void };
}
type Next = (args: object) => Promise<unknown>;
type Middleware = (next: Next) => Next;

let loading: Promise<Commands> | undefined;

export async function commandOf<Name extends Operation>(name: Name, input: Operations[Name][0]): Promise<object> {
  const commands = await (loading ??= load());
  const Made = commands[`${name}Command`] as new (input: Operations[Name][0]) => object;
  const command = new Made(input);
  const { IfMatch, IfNoneMatch } = input as { IfMatch?: string; IfNoneMatch?: string };
  if (IfMatch !== undefined) addHeader(command, "if-match", IfMatch);
  if (IfNoneMatch !== undefined) addHeader(command, "if-none-match", IfNoneMatch);
  return command;
}

/** Versions of the SDK that do not know a condition, as those before 3.700, leave it out without a word: it is put in here. */
function addHeader(command: object, name: string, value: string): void {
  const adding: Middleware = (next) => (args) => {
    const { headers } = (args as { request: { headers: Record<string, string> } }).request;
    headers[name] ??= value;
    return next(args);
  };
  (command as Command).middlewareStack.add(adding, { step: "build", name: `little-files ${name}` });
}

async function load(): Promise<Commands> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (cause) {
    loading = undefined; // it may be installed by the next time
    const message = "s3Dir needs the package @aws-sdk/client-s3, version 3, which cannot be loaded";
    throw new HarnessFileError("FS_LOAD_FAILED", message, { cause });
  }
}
