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

let loading: Promise<Commands> | undefined;

export async function commandOf<Name extends Operation>(name: Name, input: Operations[Name][0]): Promise<object> {
  const commands = await (loading ??= load());
  const Command = commands[`${name}Command`] as new (input: Operations[Name][0]) => object;
  return new Command(input);
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
