// Clients of the AWS SDK for the server of the tests.
import { S3Client } from "@aws-sdk/client-s3";

/** `port()` may give a promise. One try for each request, unless `options` say otherwise: a test wants to see each failure. */
export function clientAt(port, options = {}) {
  return new S3Client({
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    endpoint: async () => ({ protocol: "http:", hostname: "127.0.0.1", port: await port(), path: "/" }),
    maxAttempts: 1,
    ...options,
  });
}
