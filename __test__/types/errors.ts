// Errors and events.
import {
  type FsErrorCode,
  HarnessFileError,
  type HarnessFileEventType,
  type HarnessTraceEvent,
} from "@little-stack/files";
import { same } from "./expect.js";

export function narrowed(error: unknown): string {
  if (HarnessFileError.isInstance(error)) {
    same<typeof error, HarnessFileError>();
    same<typeof error.code, FsErrorCode>();
    same<typeof error.path, string | undefined>();
    switch (error.code) {
      case "FS_NOT_FOUND":
      case "FS_STALE_VERSION":
        return error.path ?? "";
      case "FS_SANDBOX_DENIED":
        return error.reason === "read_only" ? "read-only" : "";
      // @ts-expect-error no such code
      case "FS_GONE":
        return "";
      default:
        return error.message;
    }
  }
  if (error instanceof HarnessFileError) return error.code;
  // @ts-expect-error nothing is known of it
  return error.code;
}

export function fields(error: HarnessFileError): void {
  const asError: Error = error;
  void [asError.cause, error.details?.["option"], error.osCode];
  // @ts-expect-error codes do not change
  error.code = "FS_BUSY";
  // @ts-expect-error no such reason
  void (error.reason === "because");
}

export const own = new HarnessFileError("FS_NOT_FOUND", "No such file: /session/a (ENOENT)", {
  path: "/session/a",
  cause: 1,
});
// @ts-expect-error a code is one of ours
export const foreign = new HarnessFileError("ENOENT", "No such file");

export function told(event: HarnessTraceEvent): string {
  const known: HarnessFileEventType = "harness.file.created";
  // Later versions tell more: any string may come.
  if (event.type === "harness.not.known.yet") return event.eventId;
  return event.type === known
    ? String(event.metadata["path"])
    : `${event.sequence} ${event.turnId ?? ""} ${event.timestamp}`;
}
