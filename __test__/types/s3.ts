// Declaring an `s3Dir`: it takes the client of the SDK, knows the host's extraBody, and is a Persistent Dir of the host.
import { S3Client } from "@aws-sdk/client-s3";
import { type StoreDir, localHost } from "@little-stack/files";
import { s3Dir } from "@little-stack/files/s3";
import { same } from "./expect.js";

interface Body {
  userId: string;
}

const client = new S3Client({});
const given = { client, bucket: "bucket", harnessDir: "/persistent/user" };

export function declaredInPlace(): void {
  localHost<Body>({
    persistentDirs: [
      s3Dir({ ...given, prefix: ({ extraBody }) => `users/${extraBody?.userId}/` }),
      s3Dir({ ...given, prefix: "shared/", commit: "read-only", concurrency: 8, conditional: false }),
    ],
  });
}

/** By its shape: a client that is wrapped, or stands in for one. */
export function takenByShape(): void {
  s3Dir({ ...given, prefix: "a/", client: { send: (command, options) => client.send(command, options) } });
  s3Dir({ ...given, prefix: "a/", client: { send: async () => ({}) } });
}

export function declaredBefore(): StoreDir<Body> {
  const dir = s3Dir<Body>({
    ...given,
    prefix: ({ extraBody, sessionId }) => {
      same<typeof extraBody, Body | undefined>();
      same<typeof sessionId, string>();
      return "users/";
    },
  });
  same<typeof dir, StoreDir<Body>>();
  return dir;
}

export function refused(): void {
  // @ts-expect-error: a dir for another extraBody
  localHost<{ other: number }>({ persistentDirs: [declaredBefore()] });
  // @ts-expect-error: a prefix is a string
  s3Dir({ ...given, prefix: () => 7 });
  // @ts-expect-error: there is no such mode
  s3Dir({ ...given, prefix: "a/", commit: "always" });
  // @ts-expect-error: only `false` says something
  s3Dir({ ...given, prefix: "a/", conditional: true });
  // @ts-expect-error: no client
  s3Dir({ bucket: "bucket", harnessDir: "/persistent/user", prefix: "a/" });
}
